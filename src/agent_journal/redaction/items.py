"""An item and its secrets: most of it is dismissed at once, the rest is walked, twice if there are any."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from agent_journal.model import Event, Memory, Message
from agent_journal.model.spilled import encode_spilled
from agent_journal.redaction import RECORDED, Finding, ItemT
from agent_journal.redaction.attachments import attached
from agent_journal.redaction.by_name import kind_of_field
from agent_journal.redaction.forms import Known
from agent_journal.redaction.lists import spans_in_list
from agent_journal.redaction.scan import scanner
from agent_journal.redaction.spans import Span, merged
from agent_journal.redaction.views import joined, put_into, views
from agent_journal.redaction.walk import walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from agent_journal.model import Item
    from agent_journal.redaction.lists import ListSpan
    from agent_journal.redaction.walk import Path

# Replacing one secret can bring another to light, as a pair of keys of which only one has a form of its own.
_MOST_ROUNDS = 6
_BATCH = 32
_encode = msgspec.json.Encoder(enc_hook=encode_spilled).encode


class Redaction:
    """The rules at work on one item."""

    def __init__(self, *, personal: bool) -> None:
        self._scanner = scanner(personal=personal)
        self._secrets: dict[str, str] = {}
        self._known = Known({})
        self._found: Counter[tuple[str, str, str]] = Counter()
        self._message = ""

    def of(self, item: ItemT) -> tuple[ItemT, list[Finding]]:
        """The item without its secrets, and what they were."""
        pieces = _pieces(item)
        suspects = [piece for batch in _batches(pieces) for piece in self._suspects(batch)]
        for piece in suspects:
            walk(piece, self._collect, self._collect_list)
        if not self._secrets:
            return item, []
        self._known = Known(self._secrets)
        wanted = {id(piece) for piece in suspects}
        changed = [
            self._replaced(piece) if id(piece) in wanted or not self._unknown(piece) else piece
            for piece in pieces
        ]
        findings = [
            Finding(kind=kind, message=message, field=field, count=count)
            for (kind, message, field), count in self._found.items()
        ]
        whole: ItemT = _whole(item, changed)
        return _recorded(whole, findings), findings

    def _suspects(self, batch: list[Any]) -> list[Any]:
        """What of some pieces is to be walked: as a rule nothing, which takes one look at all of them."""
        text = _text(batch)
        if text is not None and self._scanner.is_dull(text):
            return []
        return [piece for piece in batch if not self._dismissed(piece)]

    def _dismissed(self, piece: Any) -> bool:
        text = _text(piece)
        if text is None:
            return False
        return self._scanner.is_dull(text) or _is_clean(self._scanner.is_clean, text)

    def _unknown(self, piece: Any) -> bool:
        """Whether no secret that was found elsewhere can be in it."""
        if self._known.is_clean is None:
            return True
        text = _text(piece)
        return text is not None and _is_clean(self._known.is_clean, text)

    def _collect(self, text: str, path: Path, name: str = "") -> str:  # noqa: ARG002 (an Edit)
        for _ in range(_MOST_ROUNDS):
            spans = self._spans(text, name)
            if not spans:
                break
            for span in spans:
                self._secrets.setdefault(span.secret or joined(text[span.start : span.end]), span.kind)
            text = _without(text, spans)
        return text

    def _replace(self, text: str, path: Path, name: str = "") -> str:
        for _ in range(_MOST_ROUNDS):
            spans = self._spans(text, name)
            if not spans:
                break
            for span in spans:
                self._found[span.kind, self._message, ".".join(path)] += 1
            text = _without(text, spans)
        return text

    def _collect_list(self, values: list[Any], path: Path) -> list[Any]:  # noqa: ARG002 (an EditList)
        found = list(spans_in_list(values, self._scanner.spans))
        for each in found:
            self._secrets.setdefault(each.secret, each.span.kind)
        return _without_in_list(values, found)

    def _replace_list(self, values: list[Any], path: Path) -> list[Any]:
        found = list(spans_in_list(values, self._scanner.spans))
        for each in found:
            self._found[each.span.kind, self._message, ".".join(path)] += 1
        return _without_in_list(values, found)

    def _replaced(self, piece: Any) -> Any:
        self._message = piece.id if isinstance(piece, Message | Event) else ""
        return walk(piece, self._replace, self._replace_list)

    def _spans(self, text: str, name: str) -> list[Span]:
        """Every secret in a text, by the rules, by its name, or because it was found elsewhere."""
        found = self._known.spans(text) + self._scanner.spans(text)  # one secret has one name everywhere
        for view in views(text):
            within = self._known.spans(view.text) + self._scanner.spans(view.text)
            found += map(view.in_original, within)
        if name and (kind := kind_of_field(name, text)) is not None:
            found.append(Span(0, len(text), kind))
        return merged(found) if found else found


def _pieces(item: Item) -> list[Any]:
    """What is dismissed or walked as a whole: each entry of a timeline, and the rest."""
    if isinstance(item, Memory):
        return [item]
    return [replace(item, timeline=[]), *item.timeline]


def _batches(pieces: list[Any]) -> Iterable[list[Any]]:
    return (pieces[start : start + _BATCH] for start in range(0, len(pieces), _BATCH))


def _whole(item: Item, pieces: list[Any]) -> Any:
    """The item that is made of the pieces, of the same type."""
    return pieces[0] if isinstance(item, Memory) else replace(pieces[0], timeline=pieces[1:])


def _text(piece: Any) -> str | None:
    """One piece or several as one text, with what is attached; None if one is nested too deeply for that."""
    try:
        text = _encode(piece).decode()
    except (RecursionError, UnicodeEncodeError):
        return None
    files = tuple(attached(piece if piece.__class__ is list else [piece]))
    return "\n".join((text, *files)) if files else text


def _is_clean(is_clean: Callable[[str], bool], text: str) -> bool:
    """Whether nothing is in a text, however it is read."""
    # Rules know tabs, not how JSON writes them; all else that it escapes they take as it comes.
    text = text.replace("\\t", " ")
    return is_clean(text) and all(is_clean(view.text) for view in views(text))


def _without(text: str, spans: Iterable[Span]) -> str:
    pieces: list[str] = []
    place = 0
    for span in spans:
        pieces += (text[place : span.start], f"[REDACTED:{span.kind}]", put_into(text[span.start : span.end]))
        place = span.end
    return "".join((*pieces, text[place:]))


def _without_in_list(values: list[Any], found: list[ListSpan]) -> list[Any]:
    """The list in which every text has a mark where a piece of a secret was."""
    if not found:
        return values
    spans: dict[int, list[Span]] = {}
    for each in found:
        for index, start, end in each.pieces:
            spans.setdefault(index, []).append(Span(start, end, each.span.kind))
    return [
        _without(value, merged(spans[index])) if index in spans else value
        for index, value in enumerate(values)
    ]


def _recorded(item: ItemT, findings: Iterable[Finding]) -> ItemT:
    """The item that says of itself what was replaced, by kind."""
    counts: Counter[str] = Counter()
    for finding in findings:
        counts[finding.kind] += finding.count
    before = item.extra.get(RECORDED)
    for kind, count in before.items() if isinstance(before, dict) else ():
        counts[kind] += count if isinstance(count, int) else 0
    return replace(item, extra={**item.extra, RECORDED: dict(sorted(counts.items()))})
