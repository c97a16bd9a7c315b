"""Fast path: converts the HTML of most answers to Markdown by looking up runs of tags.

The Markdown of a run depends only on the lists and the table around it. So this is a state machine: each
state caches its runs, with their Markdown and the next state; only C code looks at the text between runs.
"""

from __future__ import annotations

import re
from itertools import count
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from agent_journal.readers.gemini_takeout.page import (
    TOP_LEVEL,
    Image,
    MarkdownBuilder,
    Nesting,
    Step,
    cell,
    link,
    parse_run,
)
from agent_journal.readers.gemini_takeout.tags import (
    MAYBE_INVISIBLE,
    TAG,
    attributes,
    collapse_blank_lines,
    language_in,
    unescape_common,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

# Tags with only white space between them. Later steps reject what is not a tag.
_RUN = re.compile(r"(<[^>]*+>(?:\s*+<[^>]*+>)*+)")
_MAX_TAGS = 50
_MAX_LIST_DEPTH = 20
_MAX_STATES, _MAX_CACHED_RUNS, _MAX_CACHED_RUN_CHARS = 1000, 20_000, 100
# Cells, links, code blocks and images are converted when the text is complete; until then one of these
# delimiters is on both sides of them, and between a link's tag and its label.
_CELL, _CODE, _LINK, _IMAGE = "\x02", "\x04", "\x06", "\x08"
_LINK_TAG = re.compile("<a [^<>]*>")
# The same link or image rarely occurs twice.
_LINK_OR_IMAGE = re.compile("<(?:a|img) ")
_LIST_HANDLERS = {MarkdownBuilder.begin_list, MarkdownBuilder.end_list, MarkdownBuilder.item}
_TABLE_HANDLERS = {
    MarkdownBuilder.begin_table,
    MarkdownBuilder.end_table,
    MarkdownBuilder.begin_row,
    MarkdownBuilder.end_row,
}
_Kind: TypeAlias = Literal["text", "cell", "link", "link in a cell", "code"]
# The kind of text after the delimiter of a cell or link.
_NEXT_KIND: dict[tuple[_Kind, str], _Kind] = {
    ("text", _CELL): "cell",
    ("cell", _CELL): "text",
    ("text", _LINK): "link",
    ("link", _LINK): "text",
    ("cell", _LINK): "link in a cell",
    ("link in a cell", _LINK): "cell",
}


class MarkdownPieces(NamedTuple):
    """Markdown text alternating with code blocks, each after a line that names its language.

    Less common references are unresolved.
    """

    pieces: list[str]
    images: list[Image]


class _State(dict[str, tuple[str, Any]]):
    """A state: the Markdown of each run of tags in it, and the next state."""

    def __init__(self, nesting: Nesting | None, kind: _Kind = "text") -> None:
        super().__init__()
        self._nesting = nesting
        self._kind: _Kind = kind

    def __missing__(self, run: str) -> tuple[str, _State]:
        if self._nesting is None:
            return "", _REJECTED
        if self._kind == "code":
            transition = _transition_in_code(run, self._nesting)
        elif (tag := _LINK_TAG.search(run)) and run.count("<a") == 1 and "<pre" not in run:
            # Cached is the run without the URL.
            output, state = self[run.replace(tag[0], "<a>")]
            return output.replace("<a>", tag[0]), state
        else:
            transition = _transition(run, self._nesting, self._kind)
        if (
            len(run) <= _MAX_CACHED_RUN_CHARS
            and not _LINK_OR_IMAGE.search(run)
            and next(_CACHED_RUN_NUMBERS) < _MAX_CACHED_RUNS
        ):
            self[run] = transition
        return transition


# Numbers the cached runs of all states.
_CACHED_RUN_NUMBERS = count()
# The state after a tag that needs the slow path; it is never left.
_REJECTED = _State(None)
_START = _State(TOP_LEVEL)
_STATES: dict[tuple[Nesting, _Kind], _State] = {(TOP_LEVEL, "text"): _START}


def markdown(html: str) -> MarkdownPieces | None:
    """Convert HTML; None if it needs the slow path."""
    if html.rfind("<") > html.rfind(">"):
        # The last `<` begins no tag; many of these would each be scanned to the end of the text.
        return None
    pieces = _RUN.split(html)
    converted: list[str] = []
    state = _START
    for run in pieces[1::2]:
        output, state = state[run]
        converted.append(output)
    if state is not _START:
        return None
    pieces[1::2] = converted
    return _assemble("".join(pieces).strip("\n"), html)


def _assemble(text: str, html: str) -> MarkdownPieces | None:
    """Convert the delimited parts and split off code blocks; None if the HTML itself has delimiters."""
    delimiters = [delimiter for delimiter in (_IMAGE, _LINK, _CELL, _CODE) if delimiter in text]
    if any(delimiter in html for delimiter in delimiters):
        return None
    images: list[Image] = []
    if _IMAGE in delimiters:
        text, images = _with_images(text)
    if _LINK in delimiters:
        text = _with_links(text)
    if _CELL in delimiters:
        text = _with_cells(text)
    text = unescape_common(text)
    pieces = [*_split_code(text)] if _CODE in delimiters else [text]
    # Only line breaks in the HTML or links without text can leave extra blank lines.
    if "\n" in html or _LINK in delimiters:
        pieces[::2] = map(collapse_blank_lines, pieces[::2])
    return MarkdownPieces(pieces, images)


def _split_code(text: str) -> Iterator[str]:
    """Yield text and code blocks, which alternate."""
    # CPython (3.11 to 3.13) searches a single character at memory speed, but splits at it more slowly.
    start = 0
    while (end := text.find(_CODE, start)) >= 0:
        yield text[start:end]
        start = end + 1
    yield text[start:]


def _with_images(text: str) -> tuple[str, list[Image]]:
    builder = MarkdownBuilder()
    pieces = text.split(_IMAGE)
    pieces[1::2] = map(builder.image, pieces[1::2])
    return "".join(pieces), builder.images


def _with_links(text: str) -> str:
    pieces = text.split(_LINK)
    pieces[1::3] = map(_linked, pieces[1::3], pieces[2::3])
    del pieces[2::3]
    return "".join(pieces)


def _linked(tag: str, label: str) -> str:
    return link(label, attributes(tag).get("href"))


def _with_cells(text: str) -> str:
    pieces = text.split(_CELL)
    pieces[1::2] = map(cell, pieces[1::2])
    return "".join(pieces)


def _transition(run: str, nesting: Nesting, kind: _Kind) -> tuple[str, _State]:
    """Get the Markdown of a run in a state, and the next state."""
    before, pre, code = run.partition("<pre>")
    if not _has_only_tags(run) or "<pre" in before or "</pre>" in code:
        return "", _REJECTED
    builder = MarkdownBuilder(nesting)
    outputs: list[str] = []
    parsed = parse_run(before)
    for step in [parsed] if isinstance(parsed, str) else parsed:
        output = step if isinstance(step, str) else _convert_step(builder, step, kind)
        if output is None:
            return "", _REJECTED
        kind = _NEXT_KIND.get((kind, output[:1]), kind)
        outputs.append(output)
    text = collapse_blank_lines("".join(outputs))
    if not pre:
        return text, _state_of(builder.nesting, kind)
    pieces = TAG.split(pre + code)
    code_start = f"{_CODE}{language_in(pieces[1::2])}\n{''.join(pieces[::2])}"
    # Line breaks around a code block are removed in the end anyway; here it takes no copy.
    return text.rstrip("\n") + code_start, _state_of(builder.nesting, "code") if kind == "text" else _REJECTED


def _has_only_tags(run: str) -> bool:
    """Whether a run has only visible tags."""
    if MAYBE_INVISIBLE.search(run) or run.count("<") > _MAX_TAGS:
        return False
    return not "".join(TAG.split(run)[::2]).strip()


def _transition_in_code(run: str, nesting: Nesting) -> tuple[str, _State]:
    """Get the next state inside a code block: its tags only add color; the first may name the language."""
    code, end, remaining = run.partition("</pre>")
    if MAYBE_INVISIBLE.search(code) or language_in([code]):
        return "", _REJECTED
    text = "".join(TAG.split(code)[::2])
    if not end:
        return text, _state_of(nesting, "code")
    output, state = _transition(remaining, nesting, "text")
    return text + _CODE + output.lstrip("\n"), state


def _convert_step(builder: MarkdownBuilder, step: Step, kind: _Kind) -> str | None:
    """Get the output for a tag; None if it depends on the text around it."""
    if (step.handler in _LIST_HANDLERS and kind in {"text", "cell"}) or (
        step.handler in _TABLE_HANDLERS and kind == "text"
    ):
        return step.handler(builder, step.tag)
    if step.handler is MarkdownBuilder.begin_cell and kind == "text":
        return _CELL
    if step.handler is MarkdownBuilder.end_cell and kind == "cell":
        builder.columns += 1
        return _CELL
    if step.handler is MarkdownBuilder.begin_link and kind in {"text", "cell"}:
        return f"{_LINK}{step.tag}{_LINK}"
    if step.handler is MarkdownBuilder.end_link and kind in {"link", "link in a cell"}:
        return _LINK
    if step.handler is MarkdownBuilder.image:
        return f"{_IMAGE}{step.tag}{_IMAGE}"
    return None


def _state_of(nesting: Nesting, kind: _Kind) -> _State:
    key = nesting, kind
    if key not in _STATES:
        if len(_STATES) >= _MAX_STATES or len(nesting.lists) > _MAX_LIST_DEPTH:
            return _REJECTED
        _STATES[key] = _State(nesting, kind)
    return _STATES[key]
