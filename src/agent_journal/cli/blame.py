"""`aj blame`: which conversation, prompt and edit last changed a file or some of its lines."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import click

from agent_journal.cli._journal import open_journal, settings
from agent_journal.cli._run import NOT_FOUND
from agent_journal.terminal import out, say, show_json
from agent_journal.terminal.local_times import age, short
from agent_journal.text.humanize import count
from agent_journal.text.sanitize import quoted

if TYPE_CHECKING:
    from agent_journal.blame.answer import Blame, BlamedEdit
    from agent_journal.terminal import Sink

_MAX_PROMPT_CHARS = 200
_SHORT_COMMIT_CHARS = 10


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("path", metavar="PATH[:LINES]")
@click.option("--text", metavar="TEXT", help="Only edits that added or removed this text.")
@click.option("--diff", "with_diff", is_flag=True, help="Show what each edit changed.")
@click.option(
    "--max",
    "limit",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    metavar="N",
    help="Maximum number of edits.",
)
@click.option("--offset", type=click.IntRange(min=0), default=0, metavar="N", help="Skip the newest N edits.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object per edit, then one for the file."
)
def command(
    *, path: str, text: str | None, with_diff: bool, limit: int, offset: int, as_json: bool
) -> int | None:
    """Show which conversation, prompt and edit last changed a file.

    LINES is a line or a range, such as 12 or 12-20: then only the edits are shown
    that these lines come from. A file that is not here is searched by the end of
    its path.
    """
    from agent_journal.blame.target import split_lines  # noqa: PLC0415 (only where needed)

    path, lines = split_lines(path)
    with open_journal(settings()) as journal:
        blame = journal.blame(path, lines, text=text, limit=limit, offset=offset, folder=_current_folder())
    if lines is not None:
        _check_lines(path, lines.first, lines.last, blame.line_count)
    if as_json:
        _show_json(blame)
    else:
        _show(blame, with_diff=with_diff)
    for notice in blame.notices:
        say(f"aj: {notice}")
    if not blame.total:
        say(f"aj blame: {_nothing(path, text, has_lines=lines is not None)}")
        return NOT_FOUND
    if not as_json and offset + len(blame.edits) < blame.total:
        say(f"aj: Showing {len(blame.edits):,} of {blame.total:,} edits; --max and --offset show others.")
    return None


def _current_folder() -> str:
    return os.getcwd()  # noqa: PTH109 (a name, as the user sees it)


def _check_lines(path: str, first: int, last: int, line_count: int | None) -> None:
    if line_count is None:
        raise click.UsageError(
            f"{quoted(path)} is not a text file that can be read, so it has no lines to look up."
        )
    if first < 1 or last < first or last > line_count:
        has = count(line_count, "line")
        raise click.UsageError(f"{first}-{last} is not a range of lines in {quoted(path)}, which has {has}.")


def _nothing(path: str, text: str | None, *, has_lines: bool) -> str:
    what = f" with {quoted(text)}" if text else ""
    if has_lines:
        return f"No recorded edit{what} wrote these lines of {quoted(path)}."
    return f"No conversation in the journal has an edit of {quoted(path)}{what}."


def _show_json(blame: Blame) -> None:
    values = blame.to_dict()
    for edit in values.pop("edits"):
        show_json(edit)
    show_json({**values, "total": True, "edits": values["total"]})


def _show(blame: Blame, *, with_diff: bool) -> None:
    sink, now = out(), time.time()
    for edit in blame.edits:
        _show_edit(edit, sink, now, blame)
        if with_diff:
            sink.write(*(("dim", "    "), edit.diff.replace("\n", "\n    "), "\n"))
    for rename in blame.renames:
        sink.line(
            ("dim", f"renamed from {rename.old} to {rename.new} · {short(rename.at)} · {rename.conversation}")
        )


def _show_edit(edit: BlamedEdit, sink: Sink, now: float, blame: Blame) -> None:
    sink.line(("strong", f"{edit.conversation}@{edit.message}"))
    written_ago = age(edit.at, now)
    at = f"{short(edit.at)} ({written_ago})" if written_ago else short(edit.at)
    facts = (edit.title, edit.source, edit.model, at)
    sink.line("  ", ("dim", " · ".join(fact for fact in facts if fact)))
    if edit.prompt:
        sink.line("    ", _shortened(edit.prompt))
    sink.line("    ", ("dim", " · ".join(_facts(edit, blame))))


def _facts(edit: BlamedEdit, blame: Blame) -> list[str]:
    """What the edit did, where it is in the file now, and the commits that carry it."""
    kind = "complete file" if edit.is_new else "edit"
    facts = [f"{edit.tool} ({kind})", f"+{edit.added:,} -{edit.removed:,}"]
    if edit.path != blame.path:
        facts.append(edit.path)
    if edit.lines:
        lines = ", ".join(_range(first, last) for first, last in edit.lines)
        facts.append(f"{'similar to' if edit.match == 'similar' else 'now'} {lines}")
        facts.extend(f"commit {each.id[:_SHORT_COMMIT_CHARS]} {each.summary}" for each in edit.commits)
        if blame.git == "checked" and not edit.commits:
            facts.append("not committed")
    return facts


def _range(first: int, last: int) -> str:
    return f"line {first}" if first == last else f"lines {first}-{last}"


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MAX_PROMPT_CHARS else f"{line[: _MAX_PROMPT_CHARS - 1]}…"
