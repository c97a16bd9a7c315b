"""The command `aj`: one file per verb, imported only when that verb is asked for."""

from __future__ import annotations

import os
import sys

from agent_journal import terminal
from agent_journal.text.sanitize import quoted

VERBS = {
    "sync": "Find every known history on this machine and import what is new",
    "import": "Import exports, folders, zips or standard input",
    "watch": "Keep importing while agents write",
    "list": "List the conversations in the journal",
    "show": "Show a conversation",
    "search": "Find what was said, thought or done",
    "export": "Write conversations for others to read, without secrets",
    "status": "Tell what is in the journal",
    "usage": "Tell how many tokens were used, and what they cost",
    "convert": "Write conversations from any source in any format",
    "cook": "Turn API traces into a deduplicated graph of requests",
    "validate": "Check conversations against the unified schema and its rules",
    "record": "Sign agent records and bundles of memories, and verify them",
    "check": "Check that everything is what was put there",
    "repair": "Heal what is damaged in the journal",
    "reindex": "Make the search index anew",
    "embed": "Prepare everything for search by meaning",
    "forget": "Erase conversations for good",
    "backup": "Copy the whole journal, checked",
    "config": "Show what is settled and where it came from, or settle it",
    "formats": "List what can be read and what can be written",
    "doctor": "Tell whether everything is in good order, and what to do",
    "demo": "Show how it works on a few histories made up for that",
    "dev": "Tools for adding a source",
}
# What is shown without a verb.
OVERVIEW = "overview"

HELP = """\
Usage: aj [--home DIR] [VERB] [OPTIONS] [ARGUMENTS]

  Every conversation you had with an AI: read from where it lies, kept, found,
  and written in any format. Without a verb: what is archived, what is new.

Verbs:
{verbs}

Options:
  --home DIR  Another journal than ~/.agent-journal (or AJ_HOME).
  --version   Show the version and exit.
  --help      Show this message and exit.

'aj VERB --help' tells more. Exit codes: 0 done, 1 failed, 2 wrong usage,
3 partly done (what is missing is named on standard error), 4 not found,
130 interrupted.
"""


def main() -> None:
    """Run the verb that the command line names."""
    os.umask(0o077)  # all that is written is for the person alone, and for the person indeed
    terminal.prepare()
    arguments = _behind_home(sys.argv[1:])
    if arguments[:1] == ["help"] and len(arguments) > 1:
        arguments = [*arguments[1:], "--help"]
    if arguments and arguments[0] in {"--help", "-h", "help"}:
        # Asking for help imports nothing: a static table, not the verbs themselves.
        _end(terminal.tell(HELP.format(verbs=_table()).rstrip("\n")))
        return
    if arguments and arguments[0] == "--version":
        from agent_journal import __version__  # noqa: PLC0415 (only where needed)

        _end(terminal.tell(f"aj {__version__}"))
        return
    if arguments and arguments[0] not in VERBS:
        terminal.say(f"aj: no verb is called {quoted(arguments[0])}; {_hint(arguments[0])}")
        sys.exit(2)
    try:
        from agent_journal.cli._run import run  # noqa: PLC0415

        code = run(arguments[0], arguments[1:]) if arguments else run(OVERVIEW, [])
    except KeyboardInterrupt:  # before the verb could take care of it itself
        code = 130
    sys.exit(code)


def _end(code: int) -> None:
    if code:
        sys.exit(code)


def _hint(typed: str) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 (only where needed)

    near = get_close_matches(typed, VERBS, 1)
    return f"did you mean {near[0]!r}?" if near else "'aj --help' lists them"


def _behind_home(arguments: list[str]) -> list[str]:
    """The arguments behind `--home DIR`, which from here on is as good as AJ_HOME."""
    if arguments and arguments[0].startswith("--home="):
        arguments = ["--home", arguments[0].removeprefix("--home="), *arguments[1:]]
    if not arguments or arguments[0] != "--home":
        return arguments
    if len(arguments) == 1 or not arguments[1]:
        terminal.say("aj: --home needs a folder")
        sys.exit(2)
    os.environ["AJ_HOME"] = arguments[1]
    return arguments[2:]


def _table() -> str:
    return "\n".join(f"  {verb:9} {what}" for verb, what in VERBS.items())
