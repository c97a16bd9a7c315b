"""Help texts of options that several commands have."""

from __future__ import annotations

SOURCE_HELP = "Only this source or product ('aj formats' lists them); may be repeated."
FROM_HELP = "Format of the input, if it is not detected: NAME or NAME@VERSION."
WITHOUT_HELP = "Leave out thinking, tools, or both (separated by a comma)."
REDACT_HELP = "Redact keys, tokens and passwords; each is reported."
REDACT_PERSONAL_HELP = "Also redact e-mail addresses, and phone, card and account numbers."
ALL_NOTES_HELP = "Print all notes, not only the first few of each kind."
