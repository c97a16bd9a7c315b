"""Where written bytes go: standard output, a file that appears whole or not at all, or a folder."""

from __future__ import annotations

import os
import sys
from collections import Counter
from contextlib import ExitStack, contextmanager, nullcontext
from datetime import UTC, datetime
from functools import partial
from typing import IO, TYPE_CHECKING, Any, cast

from agent_journal import __version__, files, plugins, readers, writers
from agent_journal.errors import BadConfig, CannotWrite
from agent_journal.inputs.input import passed_over
from agent_journal.model.spilled import load_spilled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager

    from agent_journal.model import Item
    from agent_journal.notes import Notes
    from agent_journal.writers import Bundle, Images, ListPrice, PageWriter, Run, Theme, Writer


def new_run(
    notes: Notes,
    *,
    theme: Theme = "auto",
    images: Images = "auto",
    list_price: ListPrice = writers.no_list_price,
) -> Run:
    """What writers may know about this run; SOURCE_DATE_EPOCH fixes its time."""
    now = _now()
    infos = [reader.INFO for reader in readers.discover().values()]
    return writers.Run(
        note=notes,
        started_at=now.strftime("%Y-%m-%dT%H:%M:%SZ"),
        started=int(now.timestamp()),
        program=f"agent-journal/{__version__}",
        names={info.name: info.names for info in infos},
        raw_fields={info.name: info.raw_field for info in infos if info.raw_field},
        block_sources=frozenset(info.name for info in infos if info.in_blocks),
        children_fields={info.name: info.children_field for info in infos if info.children_field},
        text_fields={info.name: info.text_field for info in infos if info.text_field},
        titles={info.name: info.title for info in infos},
        record_forms={info.name: info.record for info in infos},
        theme=theme,
        images=images,
        children={},
        list_price=list_price,
    )


def _now() -> datetime:
    fixed = os.environ.get("SOURCE_DATE_EPOCH")
    if not fixed:
        return datetime.now(UTC)
    try:
        return datetime.fromtimestamp(int(fixed), UTC)
    except (ValueError, OverflowError, OSError) as error:
        reason = f"it is {fixed!r}, but must be a number of seconds since 1970"
        raise BadConfig("SOURCE_DATE_EPOCH", reason) from error


def for_writer(items: Iterable[Item], writer: Writer) -> Iterable[Item]:
    """Return items as a writer expects them: those of other packages get all values in memory."""
    return items if plugins.package_of(writer) is None else map(load_spilled, items)


def write_items(
    items: Iterable[Item], target: str, output: str | None, notes: Notes, standard: Any = None
) -> int:
    """Write all items in a format; how many there were."""
    return write_run(items, writers.get(target), output, new_run(notes), standard)


def write_run(
    items: Iterable[Item], writer: Writer, output: str | None, run: Run, standard: Any = None
) -> int:
    """Write all items of a run; how many there were.

    Without an output they go to `standard`, which is standard output unless another stream is given.
    """
    counted = _Counted(for_writer(items, writer))
    _write_all(counted, writer, output, run, standard)
    return counted.count


def write_while_read(
    items: Iterable[Item], writer: Writer, output: str | None, run: Run, standard: Any = None
) -> int:
    """Write all items of a run, and only read the rest once nobody reads the output; how many there were.

    So every damage in the input is noted, however early the reader of the output goes away.
    """
    counted = _Counted(for_writer(items, writer))
    try:
        _write_all(counted, writer, output, run, standard)
    except BrokenPipeError:
        for _ in counted:
            pass
    return counted.count


def _write_all(counted: _Counted, writer: Writer, output: str | None, run: Run, standard: Any) -> None:
    is_folder = output is not None and (output.endswith(("/", os.sep)) or os.path.isdir(output))  # noqa: PTH112
    if (several := _writes_several(writer, output, is_folder=is_folder)) is not None:
        with files.bundle(output, is_folder=is_folder) as bundle:
            several(counted, bundle, run)
            if not counted.count:
                raise files.Nothing
            if not bundle.count:
                reason = (
                    f"nothing in the input can be written as {writer.INFO.title}; the notes above say why"
                )
                raise CannotWrite(output or "standard output", reason)
    elif output is not None and is_folder:
        files.make_folder(output)
        with ExitStack() as written:
            _write_each(counted, writer, partial(_file_in, output, written), run)
    elif output is not None and output.endswith(".zip"):
        with files.bundle(output, is_folder=False) as bundle:
            _write_each(counted, writer, bundle.file, run)
            if not counted.count:
                raise files.Nothing
    elif output is not None:
        with files.named_file(output) as out:
            writer.write(counted, out, run)
            if not counted.count:
                raise files.Nothing
    else:
        out = standard or sys.stdout.buffer
        with _not_read(out):
            writer.write(counted, out, run)


@contextmanager
def _file_in(folder: str, written: ExitStack, name: str) -> Iterator[IO[bytes]]:
    """A file in a folder; what is being read may be around it, and it is no part of that."""
    with files.whole_file(os.path.join(folder, name)) as out:  # noqa: PTH118
        written.enter_context(passed_over(out.fileno()))
        yield out


def _not_read(stream: Any) -> AbstractContextManager[None]:
    """Standard output may lead into a folder that is being read."""
    try:
        return passed_over(stream.fileno())
    except (AttributeError, OSError, ValueError):  # it is in memory
        return nullcontext()


def _writes_several(
    writer: Writer, output: str | None, *, is_folder: bool
) -> Callable[[Iterable[Item], Bundle, Run], None] | None:
    """What writes several files that belong together, where they are asked for."""
    if writer.INFO.layout == "bundle":
        return writer.write
    if writer.INFO.layout == "pages" and output is not None and (is_folder or output.endswith(".zip")):
        return cast("PageWriter", writer).write_pages
    return None


class _Counted:
    def __init__(self, items: Iterable[Item]) -> None:
        self._items = items
        self.count = 0

    def __iter__(self) -> Iterator[Item]:
        for item in self._items:
            self.count += 1
            yield item


def _write_each(
    items: Iterable[Item],
    writer: Writer,
    file_called: Callable[[str], AbstractContextManager[IO[bytes]]],
    run: Run,
) -> None:
    """Write each item to a file of its own; a document has all of them."""
    if writer.INFO.layout == "document":
        with file_called(f"{writer.INFO.name}{writer.INFO.suffix}") as out:
            writer.write(items, out, run)
        return
    taken: Counter[str] = Counter()
    for item in items:
        name = file_name(item, "")
        taken[name] += 1
        # Two files may hold the same conversation, each in its own way.
        again = f"-{taken[name]}" if taken[name] > 1 else ""
        with ExitStack() as opened:
            file = partial(file_called, f"{name}{again}{writer.INFO.suffix}")
            writer.write([item], _FromFirstByte(file, opened), run)


class _FromFirstByte:
    """A file that is made when something is written: an item that a format has no place for makes none."""

    def __init__(self, file: Callable[[], AbstractContextManager[IO[bytes]]], opened: ExitStack) -> None:
        self._file = file
        self._opened = opened
        self._out: IO[bytes] | None = None

    def write(self, data: bytes) -> int:
        """Write bytes."""
        if self._out is None:
            self._out = self._opened.enter_context(self._file())
        return self._out.write(data)


def file_name(item: Item, suffix: str) -> str:
    """A name that any file system takes, from the id a person knows and a hash that distinguishes ids."""
    return files.safe_name(item.id, f"{item.source}:{item.id}") + suffix
