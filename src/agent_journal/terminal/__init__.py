"""Output for people: nothing from a conversation can move the cursor, hide text or reorder it.

Text from a source never carries a style. Styles are separate, in pairs with their text, and become escape
sequences only here and only on a terminal.
"""

from __future__ import annotations

import os
import sys
from io import BufferedWriter, RawIOBase, TextIOWrapper

from agent_journal.terminal.command_name import with_command_name
from agent_journal.text.sanitize import one_line, safe

TYPE_CHECKING = False  # `aj --help` imports neither typing nor re, which take longer than everything else
if TYPE_CHECKING:
    from typing import Any, Literal, TextIO, TypeAlias

    from agent_journal.terminal.progress_line import ProgressLine

    Style: TypeAlias = Literal["strong", "dim", "user", "assistant", "system", "tool", "good", "bad"]
    Piece: TypeAlias = str | tuple[Style, str]

progress_lines: list[ProgressLine] = []
"""The progress lines in use; they are cleared before anything else is printed."""

_STYLES: dict[Style, str] = {
    "strong": "1",
    "dim": "2",
    "user": "1;36",
    "assistant": "1;32",
    "system": "1;33",
    "tool": "1;35",
    "good": "32",
    "bad": "31",
}


def _on_one_line(piece: Piece) -> Piece:
    if isinstance(piece, str):
        return piece.replace("\n", "\\n")
    style, text = piece
    return style, text.replace("\n", "\\n")


class Sink:
    """A stream that people read.

    `width` is that of the terminal in columns, or None without a terminal; `color` is whether styles show.
    """

    def __init__(self, stream: TextIO, *, color: bool = False, width: int | None = None) -> None:
        self.color = color
        self.width = width
        self._stream = stream
        self._encoding = stream.encoding or "utf-8"  # a stream without an encoding takes any text
        self._is_utf8 = self._encoding.lower().replace("-", "") == "utf8"

    def write(self, *pieces: Piece) -> None:
        """Print pieces, which may have several lines."""
        self._write(self.render(*pieces))

    def line(self, *pieces: Piece) -> None:
        """Print pieces on one line: no name or title can start another one."""
        self._write(self.render(*map(_on_one_line, pieces), "\n"))

    def render(self, *pieces: Piece) -> str:
        """The text that is written to the stream for pieces."""
        text = "".join(map(self._styled, pieces))
        if self._is_utf8:
            return text
        return text.encode(self._encoding, "backslashreplace").decode(self._encoding)

    def can_show(self, text: str) -> bool:
        """Whether the stream's encoding has all characters of a text."""
        try:
            text.encode(self._encoding)
        except (UnicodeError, LookupError):
            return False
        return True

    def _styled(self, piece: Piece) -> str:
        if isinstance(piece, str):
            return safe(piece)
        style, text = piece
        if not self.color or not text:
            return safe(text)
        # Each line is styled by itself: a pager that scrolls back does not know the style of the line above.
        begin, end = f"\x1b[{_STYLES[style]}m", "\x1b[0m"
        return "\n".join(f"{begin}{line}{end}" if line else "" for line in safe(text).split("\n"))

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
        except BrokenPipeError:
            raise  # the reader has closed the pipe, which is not an error
        except OSError as error:
            from agent_journal.errors import CannotWrite  # noqa: PLC0415

            raise CannotWrite("standard output", _reason(error)) from error


def sink_of(stream: TextIO) -> Sink:
    """The sink of a stream, with colors if it is a terminal that supports them and NO_COLOR is not set."""
    on_terminal = is_terminal(stream)
    return Sink(stream, color=on_terminal and _uses_color(), width=_width_of(stream) if on_terminal else None)


def is_terminal(stream: TextIO) -> bool:
    """Whether a stream is a terminal."""
    return stream.isatty()


def is_stdout_terminal() -> bool:
    """Whether standard output is a terminal."""
    return is_terminal(sys.stdout)


def is_dumb() -> bool:
    """Whether the terminal can only print: no colors, no pager, no line that is overwritten."""
    return os.environ.get("TERM", "") == "dumb"


def _uses_color() -> bool:
    if os.environ.get("NO_COLOR") or is_dumb():
        return False
    # The old console of Windows prints escape sequences as text; Windows Terminal sets WT_SESSION.
    return os.name != "nt" or "WT_SESSION" in os.environ or "TERM" in os.environ


def _width_of(stream: TextIO) -> int:
    stated = os.environ.get("COLUMNS", "")
    if stated.isascii() and stated.isdigit() and int(stated[:9]) > 0:
        return int(stated[:9])
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


def out() -> Sink:
    """Standard output, for people."""
    _clear_progress()
    return sink_of(sys.stdout)


def show(*pieces: Piece) -> None:
    """Print one line on standard output."""
    out().line(*pieces)


def show_text(text: str) -> None:
    """Print text of several lines on standard output."""
    out().write(text, "\n")


def show_json(value: Any) -> None:
    """Print a value on standard output as one line of JSON, in ASCII without control characters."""
    _clear_progress()
    # JSON encoders do not escape DEL.
    line = _in_ascii(value).replace("\x7f", "\\u007f")
    sys.stdout.write(f"{line}\n")


def _in_ascii(value: Any) -> str:
    import msgspec  # noqa: PLC0415 (only with --json)

    try:
        line = msgspec.json.format(msgspec.json.encode(value), indent=0)
        if line.isascii():
            return line.decode()
    except (UnicodeError, OverflowError):
        pass  # a lone surrogate, or a number of more than 64 bits
    import json  # noqa: PLC0415 (it escapes all of Unicode, and takes five times as long)

    return json.dumps(msgspec.to_builtins(value))


def data_out() -> Any:
    """Standard output for bytes of any format: exact, except that a terminal gets them sanitized."""
    _clear_progress()
    if not is_terminal(sys.stdout):
        return sys.stdout.buffer
    from agent_journal.terminal.data import SanitizedBytes  # noqa: PLC0415 (rarely needed)

    return SanitizedBytes(sys.stdout)


def flush() -> None:
    """Flush standard output, so that a program that reads it gets everything up to here."""
    sys.stdout.flush()


def say(text: str) -> None:
    """Print one line on standard error, with the command in hints (`'aj sync'`) as the user called it."""
    _clear_progress()
    try:
        sys.stderr.write(sink_of(sys.stderr).render(one_line(with_command_name(text)), "\n"))
        sys.stderr.flush()
    except OSError:
        _discard(sys.stderr)  # standard error is closed: there is nobody to report that to


def _clear_progress() -> None:
    for line in progress_lines:
        line.clear()


def confirm(question: str) -> bool:
    """Ask a yes-or-no question; False if the answer is not yes, or if there is nobody to answer."""
    _clear_progress()
    try:
        sys.stderr.write(sink_of(sys.stderr).render(one_line(question), " [y/N] "))
        sys.stderr.flush()
        return sys.stdin.readline().strip().lower() in {"y", "yes"}
    except (OSError, ValueError):
        return False


def progress(total: int | None = None, unit: str = "") -> ProgressLine:
    """A progress line on standard error, on a terminal only; it disappears at the end."""
    from agent_journal.terminal.progress_line import ProgressLine  # noqa: PLC0415 (few commands need it)

    return ProgressLine(sys.stderr, total, unit)


def prepare() -> None:
    """Set up the standard streams so that no failed write goes unnoticed."""
    _reopen_closed_streams()
    if isinstance(sys.stdout.buffer, RawIOBase):  # as with PYTHONUNBUFFERED
        # A raw stream does not write the rest if a full disk or a pipe takes only a part.
        sys.stdout = open(  # noqa: SIM115
            sys.stdout.fileno(),
            "w",
            buffering=1,
            encoding=sys.stdout.encoding,
            errors=sys.stdout.errors,
            newline="\n",
            closefd=False,
        )


def outlast_reader() -> None:
    """Keep running, and keep the own exit code, if the reader of standard output closes the pipe."""
    try:
        number = sys.stdout.fileno()
    except (AttributeError, OSError, ValueError):  # a stream in memory
        return
    if is_terminal(sys.stdout):
        return
    from agent_journal.terminal.unread import OutlastingFile  # noqa: PLC0415 (few commands need it)

    sys.stdout.flush()
    sys.stdout = TextIOWrapper(
        BufferedWriter(OutlastingFile(number, "wb", closefd=False)),
        encoding=sys.stdout.encoding,
        errors=sys.stdout.errors,
        line_buffering=bool(sys.stdout.line_buffering),
    )


def _reopen_closed_streams() -> None:
    """Open /dev/null for standard streams that were closed before the start.

    Otherwise the next file that is opened would get their number, and output would be written into it.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            # Opened in the wrong mode, so that using it fails; except for standard error, which may be
            # missing.
            mode = os.O_RDONLY if name == "stdout" else os.O_WRONLY
            if (opened := os.open(os.devnull, mode)) != number:
                os.dup2(opened, number)
                os.close(opened)
            text_mode = "r" if name == "stdin" else "w"
            stream = open(number, text_mode, encoding="utf-8", closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)


def print_and_finish(text: str) -> int:
    """Print the only text of a command; returns the exit code."""
    return finish(0, sink_of(sys.stdout).render(text, "\n"))


def finish(code: int, rest: str = "") -> int:
    """Flush standard output; returns the exit code, which becomes a failure if that does not work."""
    try:
        sys.stdout.write(rest)
        sys.stdout.flush()
    except BrokenPipeError:
        _discard(sys.stdout)  # the reader has closed the pipe, which is not an error
    except OSError as error:
        _discard(sys.stdout)
        if not code:  # otherwise a failure was reported already
            say(f"aj: Cannot write standard output: {_reason(error)}")
        return code or 1
    return code


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def _discard(stream: TextIO) -> None:
    """Discard everything that is written from here on, including what Python flushes at exit."""
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
    except (OSError, ValueError):
        return
