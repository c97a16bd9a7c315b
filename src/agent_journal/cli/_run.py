"""Runs a verb and turns whatever happens into one line and an exit code."""

from __future__ import annotations

import importlib
import os
import signal
import sys
from typing import TYPE_CHECKING, NoReturn

import click

from agent_journal import plugins
from agent_journal.crash_reports import FOLDER, CrashReports
from agent_journal.errors import AgentJournalError, NoSuchConversation, NoSuchMessage, NoSuchName
from agent_journal.inputs import compressed
from agent_journal.terminal import outlast_reader, say, settle

if TYPE_CHECKING:
    from types import FrameType

FAILED, USAGE, PARTLY, NOT_FOUND, INTERRUPTED, TERMINATED = 1, 2, 3, 4, 130, 143
_SOON = 0.02
# Verbs that only show something: they end when nobody reads on. All others change something or give a
# verdict, so they run to their end. `convert`, `cook` and `export` see to it themselves.
_ENDING_WITH_READER = frozenset(
    {"config", "convert", "cook", "export", "formats", "list", "overview", "search", "show", "usage", "watch"}
)

# Verbs that ask every reader, so that one that cannot be used is missed.
_READING = frozenset({"convert", "cook", "import", "reindex", "sync", "validate"})


def run(verb: str, arguments: list[str]) -> int:
    """The exit code of a verb."""
    signal.signal(signal.SIGTERM, _terminated)
    sys.unraisablehook = _come_again
    if verb not in _ENDING_WITH_READER:
        outlast_reader()
    return settle(_name_problems(verb, _outcome(verb, arguments)))


def _name_problems(verb: str, code: int) -> int:
    """Name the readers and writers that could not be used; who reads something has then read only a part."""
    for problem in plugins.problems.values():
        say(f"aj: {problem}")
    return PARTLY if plugins.problems and verb in _READING and not code else code


def module_of(verb: str) -> str:
    """The name of a verb's module."""
    return f"{verb}_" if verb == "import" else verb  # no module can be called by a keyword


def _outcome(verb: str, arguments: list[str]) -> int:
    command: click.Command = importlib.import_module(f"agent_journal.cli.{module_of(verb)}").command
    try:
        with command.make_context(f"aj {verb}", arguments) as context:
            result = command.invoke(context)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.UsageError as error:
        say(f"{error.ctx.command_path if error.ctx else f'aj {verb}'}: {_of_usage(error)}")
        return USAGE
    except (click.Abort, KeyboardInterrupt):
        say("aj: interrupted")
        return INTERRUPTED
    except NoSuchName as error:
        say(f"aj {verb}: {error}")
        return USAGE
    except (NoSuchMessage, NoSuchConversation) as error:
        say(f"aj {verb}: {error}")
        return NOT_FOUND
    except AgentJournalError as error:
        say(f"aj: {error}")
        return FAILED
    except BrokenPipeError:
        return 0  # whoever read our output has seen enough
    except (MemoryError, OSError) as error:
        say(f"aj: {_of_the_machine(error)}")
        return FAILED
    except Exception as error:  # the last resort: a mistake of ours, told in one line
        if os.environ.get("AJ_DEBUG"):
            raise
        path = crash_reports().write(error, verb)
        attached = f" and attach {path}" if path else "; AJ_DEBUG=1 shows more"
        say(
            f"aj: this should not have happened: {type(error).__name__}: {error} ({_place_of(error)}); "
            f"please report it{attached}"
        )
        return FAILED
    return result if isinstance(result, int) else 0


def crash_reports() -> CrashReports:
    """Where the tracebacks of unforeseen errors go."""

    def folder() -> str:
        from agent_journal.config import home_of  # noqa: PLC0415 (only if there is something to report)

        return str(home_of(os.environ) / FOLDER)

    return CrashReports(folder)


def allow_what_is_settled() -> None:
    """Let verbs that need no journal keep to the limits that are settled; these are read when one is met."""
    compressed.allow_if_asked(_settled_max_mb)


def _settled_max_mb() -> int | None:
    from agent_journal.config import home_of, load  # noqa: PLC0415 (only if something is very large)

    try:
        return load(home_of(os.environ), os.environ).storage.max_inflated_mb or None
    except AgentJournalError:  # it matters to whoever needs the journal
        return None


def _of_usage(error: click.UsageError) -> str:
    """What was typed wrong, and what was to be typed."""
    told = error.format_message()
    if isinstance(error, click.NoSuchOption) and error.option_name == "--home":
        return "--home DIR stands before the verb"
    if error.ctx and isinstance(error.ctx.command, click.Group) and told == "Missing command.":
        return f"say which: {', '.join(sorted(error.ctx.command.commands))}"
    return told


def _of_the_machine(error: MemoryError | OSError) -> str:
    """What the machine could not do."""
    if isinstance(error, MemoryError):
        return "there is not enough memory for this"
    if error.filename is None and not _is_somewhere():
        return "the current folder is no longer there; go to another one"
    return f"{error.filename or 'cannot read or write'}: {(error.strerror or str(error)).lower()}"


def _is_somewhere() -> bool:
    try:
        return bool(os.getcwd())  # noqa: PTH109 (only to know that there is one)
    except OSError:
        return False


def _place_of(error: Exception) -> str:
    from traceback import extract_tb  # noqa: PLC0415 (slow to import, needed only here)

    place = extract_tb(error.__traceback__)[-1]
    return f"{os.path.basename(place.filename)}:{place.lineno}"  # noqa: PTH119


def _terminated(_signal: int, _frame: FrameType | None) -> NoReturn:
    """End as by an exception, so that nothing half written is left behind."""
    raise SystemExit(TERMINATED)


def _come_again(lost: sys.UnraisableHookArgs) -> None:
    """Let an interruption come again that came where Python forgets exceptions.

    A generator that nobody wants any more is closed when it is thrown away; a signal that arrives in that
    moment is told on standard error, and that is all.
    """
    if not isinstance(lost.exc_value, SystemExit | KeyboardInterrupt) or not hasattr(signal, "setitimer"):
        sys.__unraisablehook__(lost)
        return
    interruption = lost.exc_value

    def again(_signal: int, _frame: FrameType | None) -> NoReturn:
        raise interruption

    signal.signal(signal.SIGALRM, again)
    signal.setitimer(signal.ITIMER_REAL, _SOON)
