"""The program `aj`: one module per command, imported only when that command runs."""

from __future__ import annotations

import os
import sys

from agent_journal import terminal
from agent_journal.cli import _home
from agent_journal.terminal.command_name import with_command_name
from agent_journal.text.sanitize import quoted

VERBS = {
    "sync": "Import new conversations of all known tools on this machine",
    "import": "Import exports, folders, zips or standard input",
    "watch": "Keep importing while agents write",
    "list": "List the conversations in the journal",
    "show": "Show a conversation",
    "search": "Search all conversations by words and by meaning",
    "context": "Show what happened in this project lately",
    "blame": "Show which prompt and edit last changed a file",
    "mcp": "Let agents search and read the journal",
    "web": "Read and search the journal in a browser",
    "export": "Write conversations to share, with secrets redacted",
    "status": "Show what is in the journal, and how large it is",
    "usage": "Show the tokens used, and their cost",
    "convert": "Convert conversations from any source to any format",
    "cook": "Turn API traces into a deduplicated graph of requests",
    "validate": "Check conversations against the unified schema and its rules",
    "record": "Sign agent records and memory bundles, and verify them",
    "check": "Check the journal for damage",
    "repair": "Repair damage in the journal",
    "reindex": "Rebuild the search index",
    "embed": "Compute embeddings for semantic search",
    "forget": "Permanently delete conversations",
    "continue": "Continue a conversation in another tool",
    "restore": "Write the original files of conversations back to disk",
    "backup": "Copy the whole journal and verify the copy",
    "config": "Show or change settings",
    "formats": "List the formats that can be read and written",
    "doctor": "Find problems and show how to solve them",
    "demo": "Try it out on sample data",
    "dev": "Tools for adding a source",
}
# Runs without a command.
OVERVIEW = "overview"

HELP = """\
Usage: aj [--home DIR] [COMMAND] [OPTIONS] [ARGUMENTS]

  Archive, search, share and convert your conversations with AI tools. Without
  a command: show what is archived, what is new, and what to try next.

Commands:
{verbs}

Options:
  --home DIR  Use another journal than ~/.agent-journal (or AJ_HOME).
  --version   Show the version and exit.
  --help      Show this message and exit.

'aj COMMAND --help' describes a command. Exit codes: 0 success, 1 failure,
2 wrong usage, 3 partial success (what is missing is reported on standard
error), 4 not found, 130 interrupted, 143 terminated.
"""


def main() -> None:
    """Run the command line."""
    os.umask(
        0o077
    )  # only the user may read what is written; `files.make_private` makes sure that the user may
    terminal.prepare()
    try:
        _run_command(_without_home(sys.argv[1:]))
    finally:
        _home.use(None)


def _run_command(arguments: list[str]) -> None:
    if arguments[:1] == ["help"] and len(arguments) > 1:
        arguments = [*arguments[1:], "--help"]
    if arguments and arguments[0] in {"--help", "-h", "help"}:
        # Help imports nothing: it is a static table, and the commands are not needed for it.
        _exit_on_failure(terminal.print_and_finish(with_command_name(_help_text())))
        return
    if arguments and arguments[0] == "--version":
        from agent_journal import __version__  # noqa: PLC0415 (only where needed)

        _exit_on_failure(terminal.print_and_finish(f"aj {__version__}"))
        return
    if arguments and arguments[0] not in VERBS:
        terminal.say(f"aj: Unknown command {quoted(arguments[0])}; {_suggestion(arguments[0])}")
        sys.exit(2)
    try:
        from agent_journal.cli._run import run  # noqa: PLC0415

        code = run(arguments[0], arguments[1:]) if arguments else run(OVERVIEW, [])
    except KeyboardInterrupt:  # before `run` could handle it
        code = 130
    sys.exit(code)


def _exit_on_failure(code: int) -> None:
    if code:
        sys.exit(code)


def _suggestion(typed: str) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 (only where needed)

    matches = get_close_matches(typed, VERBS, 1)
    return f"did you mean {matches[0]!r}?" if matches else "'aj --help' lists all commands."


def _without_home(arguments: list[str]) -> list[str]:
    """The arguments that follow `--home DIR`."""
    if arguments and arguments[0].startswith("--home="):
        arguments = ["--home", arguments[0].removeprefix("--home="), *arguments[1:]]
    if not arguments or arguments[0] != "--home":
        return arguments
    if len(arguments) == 1 or not arguments[1]:
        terminal.say("aj: --home requires a folder.")
        sys.exit(2)
    _home.use(arguments[1])
    return arguments[2:]


def _help_text() -> str:
    return HELP.format(verbs="\n".join(f"  {verb:9} {summary}" for verb, summary in VERBS.items())).rstrip(
        "\n"
    )
