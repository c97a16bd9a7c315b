"""The one sink for what people read: nothing from a transcript can move the cursor, hide or reorder text.

What comes from a source is given as text and never carries a style; a style is said beside the text, as a
pair, and becomes an escape sequence only here and only on a terminal.
"""

from __future__ import annotations

import os
import sys
from io import BufferedWriter, RawIOBase, TextIOWrapper

from agent_journal.text.sanitize import one_line, safe

TYPE_CHECKING = False  # asking for help imports neither typing nor re: they take longer than the rest
if TYPE_CHECKING:
    from typing import Any, Literal, TextIO, TypeAlias

    from agent_journal.terminal.progress_line import ProgressLine

    Style: TypeAlias = Literal["strong", "dim", "user", "assistant", "system", "tool", "good", "bad"]
    Piece: TypeAlias = str | tuple[Style, str]

in_the_way: list[ProgressLine] = []
"""Lines that tell how far something is: they go away while something else is said."""

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

    `width` is that of the terminal in columns, or None where there is none; `colour` is whether styles show.
    """

    def __init__(self, stream: TextIO, *, colour: bool = False, width: int | None = None) -> None:
        self.colour = colour
        self.width = width
        self._stream = stream
        self._encoding = stream.encoding or "utf-8"  # one without takes text as it is
        self._takes_all = self._encoding.lower().replace("-", "") == "utf8"

    def write(self, *pieces: Piece) -> None:
        """Put pieces one after the other; those of several lines stay so."""
        self._put(self.drawn(*pieces))

    def line(self, *pieces: Piece) -> None:
        """Put pieces one after the other on one line: no name and no title can begin another."""
        self._put(self.drawn(*map(_on_one_line, pieces), "\n"))

    def drawn(self, *pieces: Piece) -> str:
        """What the stream is sent for pieces."""
        text = "".join(map(self._styled, pieces))
        return (
            text
            if self._takes_all
            else text.encode(self._encoding, "backslashreplace").decode(self._encoding)
        )

    def draws(self, text: str) -> bool:
        """Whether the stream can show a text as it is."""
        try:
            text.encode(self._encoding)
        except (UnicodeError, LookupError):
            return False
        return True

    def _styled(self, piece: Piece) -> str:
        if isinstance(piece, str):
            return safe(piece)
        style, text = piece
        if not self.colour or not text:
            return safe(text)
        # Line by line: a pager that scrolls back forgets what a line above has begun.
        begin, end = f"\x1b[{_STYLES[style]}m", "\x1b[0m"
        return "\n".join(f"{begin}{line}{end}" if line else "" for line in safe(text).split("\n"))

    def _put(self, text: str) -> None:
        try:
            self._stream.write(text)
        except BrokenPipeError:
            raise  # whoever read it has seen enough
        except OSError as error:
            from agent_journal.errors import CannotWrite  # noqa: PLC0415

            raise CannotWrite("standard output", _reason(error)) from error


def sink_of(stream: TextIO) -> Sink:
    """The sink of a stream, with colours if it is a terminal that has them and nobody minds."""
    on_terminal = is_terminal(stream)
    return Sink(
        stream, colour=on_terminal and _wants_colour(), width=_width_of(stream) if on_terminal else None
    )


def is_terminal(stream: TextIO) -> bool:
    """Whether a person looks at it now."""
    return stream.isatty()


def is_seen() -> bool:
    """Whether a person looks at standard output."""
    return is_terminal(sys.stdout)


def is_plain() -> bool:
    """Whether the terminal can only print: no colours, no pager, no line that is written over."""
    return os.environ.get("TERM", "") == "dumb"


def _wants_colour() -> bool:
    if os.environ.get("NO_COLOR") or is_plain():
        return False
    # The old console of Windows prints escape sequences as they are; its successor says who it is.
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
    _make_room()
    return sink_of(sys.stdout)


def show(*pieces: Piece) -> None:
    """One line on standard output."""
    out().line(*pieces)


def show_text(text: str) -> None:
    """Several lines on standard output."""
    out().write(text, "\n")


def show_json(value: Any) -> None:
    """A value on standard output as one line of JSON, which is ASCII without control characters."""
    _make_room()
    # JSON lets DEL stand as it is.
    line = _in_ascii(value).replace("\x7f", "\\u007f")
    sys.stdout.write(f"{line}\n")


def _in_ascii(value: Any) -> str:
    import msgspec  # noqa: PLC0415 (only where it is asked for)

    try:
        line = msgspec.json.format(msgspec.json.encode(value), indent=0)
        if line.isascii():
            return line.decode()
    except (UnicodeError, OverflowError):
        pass  # half a character, or a number of more than 64 bits
    import json  # noqa: PLC0415 (it writes all of Unicode in ASCII, and takes five times as long)

    return json.dumps(msgspec.to_builtins(value))


def data_out() -> Any:
    """Standard output for bytes of any format: exact, but on a terminal nothing in them can mislead."""
    _make_room()
    if not is_terminal(sys.stdout):
        return sys.stdout.buffer
    from agent_journal.terminal.data import ShownData  # noqa: PLC0415 (seldom)

    return ShownData(sys.stdout)


def flush() -> None:
    """Let what was shown so far be read now, also where no terminal is."""
    sys.stdout.flush()


def say(text: str) -> None:
    """One line on standard error."""
    _make_room()
    try:
        sys.stderr.write(sink_of(sys.stderr).drawn(one_line(text), "\n"))
        sys.stderr.flush()
    except OSError:
        _silence(sys.stderr)  # nobody is there to be told


def _make_room() -> None:
    for line in in_the_way:
        line.clear()


def agreed(question: str) -> bool:
    """Whether the person says yes; whoever cannot be asked does not."""
    _make_room()
    try:
        sys.stderr.write(sink_of(sys.stderr).drawn(one_line(question), " [y/N] "))
        sys.stderr.flush()
        return sys.stdin.readline().strip().lower() in {"y", "yes"}
    except (OSError, ValueError):
        return False


def progress(total: int | None = None, unit: str = "") -> ProgressLine:
    """A line on standard error that tells how far something is, on a terminal only; gone at the end."""
    from agent_journal.terminal.progress_line import ProgressLine  # noqa: PLC0415 (few need it)

    return ProgressLine(sys.stderr, total, unit)


def prepare() -> None:
    """Let standard streams be such that nothing written to them is lost unnoticed."""
    _open_closed()
    if isinstance(sys.stdout.buffer, RawIOBase):  # as PYTHONUNBUFFERED has it
        # What a full disk, or a pipe of a process that was stopped, takes only in part is not written again.
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
    """Let what follows run to its end, and end with its own code, also when nobody reads standard output."""
    try:
        number = sys.stdout.fileno()
    except (AttributeError, OSError, ValueError):  # it is in memory
        return
    if is_terminal(sys.stdout):
        return
    from agent_journal.terminal.unread import OutlastingFile  # noqa: PLC0415 (few verbs need it)

    sys.stdout.flush()
    sys.stdout = TextIOWrapper(
        BufferedWriter(OutlastingFile(number, "wb", closefd=False)),
        encoding=sys.stdout.encoding,
        errors=sys.stdout.errors,
        line_buffering=bool(sys.stdout.line_buffering),
    )


def _open_closed() -> None:
    """Give standard streams that were closed before the start something to fail at.

    Otherwise the next file that is opened would take their place, and be written into.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            # Opened for what it is not used for; only that nothing can be said is no failure.
            mode = os.O_RDONLY if name == "stdout" else os.O_WRONLY
            if (opened := os.open(os.devnull, mode)) != number:
                os.dup2(opened, number)
                os.close(opened)
            mode_of_text = "r" if name == "stdin" else "w"
            stream = open(number, mode_of_text, encoding="utf-8", closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)


def tell(text: str) -> int:
    """Show all that there is to show; the exit code."""
    return settle(0, sink_of(sys.stdout).drawn(text, "\n"))


def settle(code: int, rest: str = "") -> int:
    """Let everything that was shown arrive; the exit code, which is a failure if it could not."""
    try:
        sys.stdout.write(rest)
        sys.stdout.flush()
    except BrokenPipeError:
        _silence(sys.stdout)  # whoever read it has seen enough
    except OSError as error:
        _silence(sys.stdout)
        if not code:  # otherwise it has been told
            say(f"aj: cannot write standard output: {_reason(error)}")
        return code or 1
    return code


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def _silence(stream: TextIO) -> None:
    """Let nothing more be written, also not what the end of the process would flush."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
    except (OSError, ValueError):
        return
