"""Redact one item: clear most of it with the prefilter, walk the rest, and walk again if it has secrets."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from agent_journal.model import Event, Memory, Message
from agent_journal.model.spilled import encode_spilled
from agent_journal.redaction import REDACTIONS_KEY, Finding, ItemT
from agent_journal.redaction.assignments import kind_of_field
from agent_journal.redaction.attachments import attached_texts
from agent_journal.redaction.known_secrets import KnownSecrets
from agent_journal.redaction.list_secrets import joined_parts, spans_in_list, text_of, with_text
from agent_journal.redaction.scan import scanner
from agent_journal.redaction.spans import Span, merge
from agent_journal.redaction.views import inserted_text, views, without_insertions
from agent_journal.redaction.walk import walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from agent_journal.model import Item
    from agent_journal.redaction.list_secrets import ListSpan
    from agent_journal.redaction.walk import Path

# Replacing one secret can reveal another, as in a pair of keys of which only one has a distinctive form.
_MAX_ROUNDS = 6
_PIECES_PER_BATCH = 32
_encode = msgspec.json.Encoder(enc_hook=encode_spilled).encode


class Redactor:
    """Applies the rules to one item."""

    def __init__(self, *, personal: bool) -> None:
        self._scanner = scanner(personal=personal)
        self._secrets: dict[str, str] = {}
        self._known = KnownSecrets({})
        self._counts: Counter[tuple[str, str, str]] = Counter()
        self._message = ""

    def redact(self, item: ItemT) -> tuple[ItemT, list[Finding]]:
        """Return the item without its secrets, and the findings."""
        pieces = _pieces(item)
        suspects = [piece for batch in _batches(pieces) for piece in self._suspects(batch)]
        for piece in suspects:
            walk(piece, self._collect, self._collect_list)
        if not self._secrets:
            return item, []
        self._known = KnownSecrets(self._secrets)
        suspect_ids = {id(piece) for piece in suspects}
        changed = [
            self._redacted_piece(piece)
            if id(piece) in suspect_ids or not self._has_no_known_secret(piece)
            else piece
            for piece in pieces
        ]
        findings = [
            Finding(kind=kind, message=message, field=field, count=count)
            for (kind, message, field), count in self._counts.items()
        ]
        redacted: ItemT = _reassembled(item, changed)
        return _with_counts(redacted, findings), findings

    def _suspects(self, batch: list[Any]) -> list[Any]:
        """The pieces of a batch that must be walked: mostly none, as one check of the whole batch shows."""
        text = _text(batch)
        if text is not None and self._scanner.is_trivially_clean(text):
            return []
        return [piece for piece in batch if not self._is_clean_piece(piece)]

    def _is_clean_piece(self, piece: Any) -> bool:
        text = _text(piece)
        if text is None:
            return False
        return self._scanner.is_trivially_clean(text) or _is_clean(self._scanner.is_clean, text)

    def _has_no_known_secret(self, piece: Any) -> bool:
        """Whether the piece cannot hold a secret that was found elsewhere in the item."""
        if self._known.is_clean is None:
            return True
        text = _text(piece)
        return text is not None and _is_clean(self._known.is_clean, text)

    def _collect(self, text: str, path: Path, name: str = "") -> str:  # noqa: ARG002 (an Edit)
        for _ in range(_MAX_ROUNDS):
            spans = self._spans(text, name)
            if not spans:
                break
            for span in spans:
                self._secrets.setdefault(
                    span.secret or without_insertions(text[span.start : span.end]), span.kind
                )
            text = _redacted_text(text, spans)
        return text

    def _replace(self, text: str, path: Path, name: str = "") -> str:
        for _ in range(_MAX_ROUNDS):
            spans = self._spans(text, name)
            if not spans:
                break
            for span in spans:
                self._counts[span.kind, self._message, ".".join(path)] += 1
            text = _redacted_text(text, spans)
        return text

    def _collect_list(self, values: list[Any], path: Path) -> list[Any]:  # noqa: ARG002 (an EditList)
        matches = list(spans_in_list(values, self._scanner.spans))
        for match in matches:
            self._secrets.setdefault(match.secret, match.span.kind)
        return _redacted_list(values, matches)

    def _replace_list(self, values: list[Any], path: Path) -> list[Any]:
        matches = list(spans_in_list(values, self._spans_by_rules_or_known))
        for match in matches:
            self._counts[match.span.kind, self._message, ".".join(path)] += 1
        return _redacted_list(values, matches)

    def _redacted_piece(self, piece: Any) -> Any:
        self._message = piece.id if isinstance(piece, Message | Event) else ""
        return walk(piece, self._replace, self._replace_list)

    def _spans_by_rules_or_known(self, text: str) -> list[Span]:
        return merge(self._known.spans(text) + self._scanner.spans(text))

    def _spans(self, text: str, name: str) -> list[Span]:
        """Find every secret in a text: by the rules, by the name of the field, or because it is known."""
        # Known secrets come first, so that a secret has the same kind everywhere.
        spans = self._spans_by_rules_or_known(text)
        for view in views(text):
            within = self._known.spans(view.text) + self._scanner.spans(view.text)
            spans += map(view.in_original, within)
        if name and (kind := kind_of_field(name, text)) is not None:
            spans.append(Span(0, len(text), kind))
        return merge(spans) if spans else spans


def _pieces(item: Item) -> list[Any]:
    """Split an item into what is cleared or walked as a whole: the entries of its timeline, and the rest."""
    if isinstance(item, Memory):
        return [item]
    return [replace(item, timeline=[]), *item.timeline]


def _batches(pieces: list[Any]) -> Iterable[list[Any]]:
    return (pieces[start : start + _PIECES_PER_BATCH] for start in range(0, len(pieces), _PIECES_PER_BATCH))


def _reassembled(item: Item, pieces: list[Any]) -> Any:
    """Put the pieces of an item together again."""
    return pieces[0] if isinstance(item, Memory) else replace(pieces[0], timeline=pieces[1:])


def _text(piece: Any) -> str | None:
    """One or more pieces as one text, with attached and joined texts; None if they are nested too deeply."""
    try:
        text = _encode(piece).decode()
    except (RecursionError, UnicodeEncodeError):
        return None
    entries = piece if piece.__class__ is list else [piece]
    more_texts = (*attached_texts(entries), *joined_parts(entries))
    return "\n".join((text, *more_texts)) if more_texts else text


def _is_clean(is_clean: Callable[[str], bool], text: str) -> bool:
    """Whether a text is clean in each of its readings."""
    # The rules handle all escapes of JSON but those of tabs.
    text = text.replace("\\t", " ")
    return is_clean(text) and all(is_clean(view.text) for view in views(text))


def _redacted_text(text: str, spans: Iterable[Span]) -> str:
    pieces: list[str] = []
    position = 0
    for span in spans:
        pieces += (
            text[position : span.start],
            f"[REDACTED:{span.kind}]",
            inserted_text(text[span.start : span.end]),
        )
        position = span.end
    return "".join((*pieces, text[position:]))


def _redacted_list(values: list[Any], matches: list[ListSpan]) -> list[Any]:
    """Replace the pieces of secrets in the texts of a list."""
    if not matches:
        return values
    spans: dict[int, list[Span]] = {}
    for match in matches:
        for index, start, end in match.pieces:
            spans.setdefault(index, []).append(Span(start, end, match.span.kind))
    return [
        with_text(value, _redacted_text(text_of(value), merge(spans[index]))) if index in spans else value
        for index, value in enumerate(values)
    ]


def _with_counts(item: ItemT, findings: Iterable[Finding]) -> ItemT:
    """Add the number of replaced secrets by kind to the item's `extra`."""
    counts: Counter[str] = Counter()
    for finding in findings:
        counts[finding.kind] += finding.count
    before = item.extra.get(REDACTIONS_KEY)
    for kind, count in before.items() if isinstance(before, dict) else ():
        counts[kind] += count if isinstance(count, int) else 0
    return replace(item, extra={**item.extra, REDACTIONS_KEY: dict(sorted(counts.items()))})
