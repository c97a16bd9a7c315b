"""The command `aj`: one file per verb, imported only when that verb is asked for."""

from __future__ import annotations

import sys

VERBS = {
    "convert": "Write conversations from any source in any format",
    "cook": "Turn API traces into a deduplicated graph of requests",
    "validate": "Check conversations against the unified schema and its rules",
    "record": "Sign agent records and bundles of memories, and verify them",
    "formats": "List what can be read and what can be written",
    "dev": "Tools for adding a source",
}

HELP = """\
Usage: aj VERB [OPTIONS] [ARGUMENTS]

  Every conversation you had with an AI: read from where it lies, written in
  any format.

Verbs:
{verbs}

Options:
  --version  Show the version and exit.
  --help     Show this message and exit.

'aj VERB --help' tells more. Exit codes: 0 done, 1 failed, 2 wrong usage,
3 partly done (what is missing is named on standard error), 4 not found,
130 interrupted.
"""


def main() -> None:
    """Run the verb that the command line names."""
    arguments = sys.argv[1:]
    if not arguments or arguments[0] in {"--help", "-h", "help"}:
        # Asking for help imports nothing: a static table, not the verbs themselves.
        sys.stdout.write(HELP.format(verbs=_table()))
        return
    if arguments[0] == "--version":
        from agent_journal import __version__  # noqa: PLC0415 (only where needed)

        sys.stdout.write(f"aj {__version__}\n")
        return
    if arguments[0] not in VERBS:
        from agent_journal.cli._say import quoted  # noqa: PLC0415

        sys.stderr.write(f"aj: no verb is called {quoted(arguments[0])}; 'aj --help' lists them\n")
        sys.exit(2)
    try:
        from agent_journal.cli._run import run  # noqa: PLC0415

        code = run(arguments[0], arguments[1:])
    except KeyboardInterrupt:  # before the verb could take care of it itself
        code = 130
    sys.exit(code)


def _table() -> str:
    return "\n".join(f"  {verb:9} {what}" for verb, what in VERBS.items())
