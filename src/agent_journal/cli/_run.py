"""Runs a command and turns whatever happens into one line and an exit code."""

from __future__ import annotations

import importlib
import os
import signal
import sys
from keyword import iskeyword
from typing import TYPE_CHECKING, NoReturn

import click

from agent_journal import plugins
from agent_journal.cli._home import home
from agent_journal.crash_reports import FOLDER, CrashReports
from agent_journal.errors import AgentJournalError, NoSuchConversation, NoSuchMessage, NoSuchName
from agent_journal.inputs import compressed
from agent_journal.terminal import finish, outlast_reader, say
from agent_journal.terminal.command_name import with_command_name

if TYPE_CHECKING:
    from types import CodeType, FrameType

FAILED, USAGE, PARTLY, NOT_FOUND, INTERRUPTED, TERMINATED = 1, 2, 3, 4, 130, 143
_RAISE_AGAIN_AFTER_S = 0.02
# Commands that only show something end when the reader of their output does. All others change something or
# give a verdict, so they run to their end. `convert`, `cook` and `export` decide for themselves.
_END_WITH_READER = frozenset(
    {
        "blame",
        "config",
        "convert",
        "cook",
        "export",
        "formats",
        "list",
        "overview",
        "search",
        "show",
        "usage",
        "watch",
    }
)

# Commands that use every reader, so their result is partial if one of them cannot be used.
_USE_ALL_READERS = frozenset({"convert", "cook", "import", "reindex", "sync", "validate"})


class _Context(click.Context):
    """Prints help texts with the command as the user called it."""

    def get_help(self) -> str:
        return with_command_name(super().get_help())


def run(verb: str, arguments: list[str]) -> int:
    """Run a command; returns the exit code."""
    signal.signal(signal.SIGTERM, _terminate)
    sys.unraisablehook = _raise_again
    if verb not in _END_WITH_READER:
        outlast_reader()
    return finish(_report_plugin_problems(verb, _invoke(verb, arguments)))


def _report_plugin_problems(verb: str, code: int) -> int:
    """Report readers and writers that cannot be used; returns the exit code."""
    for problem in [*plugins.problems.values()]:
        say(f"aj: {problem}")
    return PARTLY if plugins.problems and verb in _USE_ALL_READERS and not code else code


def module_of(verb: str) -> str:
    """The name of a command's module."""
    return f"{verb}_" if iskeyword(verb) else verb  # a keyword cannot be the name of a module


def _invoke(verb: str, arguments: list[str]) -> int:
    command: click.Command = importlib.import_module(f"agent_journal.cli.{module_of(verb)}").command
    command.context_class = _Context
    try:
        with command.make_context(f"aj {verb}", arguments) as context:
            result = command.invoke(context)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.UsageError as error:
        say(f"{error.ctx.command_path if error.ctx else f'aj {verb}'}: {_usage_message(error)}")
        return USAGE
    except (click.Abort, KeyboardInterrupt):
        say("aj: Interrupted.")
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
        return 0  # the reader of our output has closed it
    except (MemoryError, OSError) as error:
        say(f"aj: {_system_message(error)}")
        return FAILED
    except Exception as error:  # the last resort: a bug, reported in one line
        if os.environ.get("AJ_DEBUG"):
            raise
        path = crash_reports().write(error, verb)
        attachment = f" and attach {path}" if path else "; AJ_DEBUG=1 shows more"
        say(
            f"aj: Unexpected error, a bug in aj: {type(error).__name__}: {error} ({_location_of(error)}); "
            f"please report it{attachment}"
        )
        return FAILED
    return result if isinstance(result, int) else 0


def crash_reports() -> CrashReports:
    """Where the tracebacks of unexpected errors go."""
    return CrashReports(lambda: str(home() / FOLDER))


def apply_configured_limits() -> None:
    """Apply the configured size limits to a command that needs no journal; they are read when one is met."""
    compressed.allow_if_asked(_configured_max_mb)


def _configured_max_mb() -> int | None:
    from agent_journal.config import load  # noqa: PLC0415 (only if something is very large)

    try:
        return load(home(), os.environ).storage.max_inflated_mb or None
    except AgentJournalError:  # only a command that needs the journal has to report it
        return None


def _usage_message(error: click.UsageError) -> str:
    """What was typed wrong, and what to type instead."""
    message = error.format_message()
    if isinstance(error, click.NoSuchOption) and error.option_name == "--home":
        return "Put --home DIR before the command."
    if error.ctx and isinstance(error.ctx.command, click.Group) and message == "Missing command.":
        return f"Missing command: one of {', '.join(sorted(error.ctx.command.commands))}"
    return message


def _system_message(error: MemoryError | OSError) -> str:
    """What the operating system could not do."""
    if isinstance(error, MemoryError):
        return "Not enough memory."
    if error.filename is None and not _current_folder_exists():
        return "The current folder no longer exists; change to another one."
    return f"{error.filename or 'Cannot read or write'}: {(error.strerror or str(error)).lower()}"


def _current_folder_exists() -> bool:
    try:
        return bool(os.getcwd())  # noqa: PTH109 (only to know that there is one)
    except OSError:
        return False


def _location_of(error: Exception) -> str:
    from traceback import extract_tb  # noqa: PLC0415 (slow to import, needed only here)

    frame = extract_tb(error.__traceback__)[-1]
    return f"{os.path.basename(frame.filename)}:{frame.lineno}"  # noqa: PTH119


def _terminate(_signal: int, _frame: FrameType | None) -> NoReturn:
    """End through an exception, so that temporary files are removed."""
    raise SystemExit(TERMINATED)


def _raise_again(unraisable: sys.UnraisableHookArgs) -> None:
    """Raise an interruption again that arrived where Python discards exceptions.

    A generator that is no longer used is closed when it is garbage-collected. If a signal arrives at that
    moment, Python only prints the exception and goes on.
    """
    interruption = unraisable.exc_value
    if not isinstance(interruption, SystemExit | KeyboardInterrupt) or not hasattr(signal, "setitimer"):
        sys.__unraisablehook__(unraisable)
        return

    def raise_it(_signal: int, frame: FrameType | None) -> None:
        if _is_within(frame, _raise_again.__code__):  # on a busy machine; it would be discarded here, too
            signal.setitimer(signal.ITIMER_REAL, _RAISE_AGAIN_AFTER_S)
            return
        raise interruption

    signal.signal(signal.SIGALRM, raise_it)
    signal.setitimer(signal.ITIMER_REAL, _RAISE_AGAIN_AFTER_S)


def _is_within(frame: FrameType | None, code: CodeType) -> bool:
    while frame is not None and frame.f_code is not code:
        frame = frame.f_back
    return frame is not None
