"""The one sink for what people read: nothing from a transcript can move the cursor or hide text."""

from __future__ import annotations

import re
import sys

# C0 (without tab and newline), DEL, C1, and characters that reorder or hide text.
# Compiled when it is first needed, as compiling takes longer than most of a start.
_UNSAFE = (
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f\ud800-\udfff]"
)


def safe(text: str) -> str:
    """The text with every unsafe character shown as an escape."""
    return re.sub(_UNSAFE, _shown, text)


def _shown(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"  # noqa: PLR2004


def quoted(text: str) -> str:
    """A name in quotes, on one line."""
    line = safe(text).replace("\n", "\\n")
    return f"'{line}'"


def say(line: str) -> None:
    """One line on standard error."""
    text = safe(line).replace("\n", "\\n")
    encoding = sys.stderr.encoding or "ascii"
    sys.stderr.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")
