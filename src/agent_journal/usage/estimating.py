"""What answers used of which no source tells the tokens: counted with a tokenizer, and only an estimate.

Counted is what was said: to the model since it answered last, with the files beside it, and by it. What a
program sends along unseen, and sends again with every request, is not in it: it is the least that can have
been used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.archive.rows import row_of
from agent_journal.archive.store import Filter, Spent
from agent_journal.errors import MissingExtra
from agent_journal.model import Message, timestamps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from agent_journal.archive.store import Holder, Store
    from agent_journal.model import Event

_SLOT_MS = 900_000
# A tokenizer's time grows with what it is given at once.
_PIECE = 100_000


def estimated(
    store: Store,
    wanted: Filter,
    bucket: Callable[[int | None], int],
    count: Callable[[str], int] | None = None,
) -> Iterator[Spent]:
    """What was used by answers that are not counted, one by one."""
    count = tokenizer() if count is None else count
    since, until = timestamps.epoch_ms(wanted.since), timestamps.epoch_ms(wanted.until)
    of_conversations = Filter(
        source=wanted.source, project=wanted.project, title=wanted.title, with_children=True
    )
    holders = store.holders()
    for listed in list(store.conversations(of_conversations)):
        copied = store.copied(listed.key)
        for message, given in _uncounted(store.entries(listed.key), copied):
            at = timestamps.epoch_ms(message.at)
            model = message.model or listed.model
            if _is_wanted(at, since, until) and (
                not wanted.model or wanted.model.lower() in (model or "").lower()
            ):
                tokens = sum(map(count, given)), sum(map(count, _said(message)))
                slot = bucket(None if at is None else at // _SLOT_MS)
                yield _spent(holders[listed.key], slot, model, *tokens)


def tokenizer() -> Callable[[str], int]:
    """How many tokens a text has, as OpenAI's models since GPT-4o count them; others differ somewhat."""
    try:
        from rs_bpe.bpe import openai  # type: ignore[import-not-found,unused-ignore] # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra("estimating tokens", "tokens") from error
    encoder = openai.o200k_base()

    def count(text: str) -> int:
        pieces = range(0, len(text), _PIECE)
        return sum(encoder.count(text[start : start + _PIECE]) for start in pieces)

    return count


def _uncounted(
    entries: Iterable[tuple[int, Message | Event]], copied: set[int]
) -> Iterator[tuple[Message, list[str]]]:
    """Answers that nothing states the tokens of, each with what was said since the answer before it."""
    messages = [(key, entry) for key, entry in entries if isinstance(entry, Message)]
    stated = {entry.response_id for _, entry in messages if _is_stated(entry)} - {None}
    given: list[str] = []
    for key, entry in messages:
        if entry.role != "assistant":
            given += _said(entry) if key not in copied else []
            continue
        if not (_is_stated(entry) or entry.response_id in stated or key in copied) and entry.parts:
            yield entry, given
        given = []


def _is_stated(message: Message) -> bool:
    usage = message.usage
    return usage is not None and (usage.output is not None or usage.total is not None)


def _said(message: Message) -> list[str]:
    row = row_of(message)
    return [text for text in (row.text, row.thinking, row.tool, row.attached) if text]


def _is_wanted(at: int | None, since: int | None, until: int | None) -> bool:
    if since is None and until is None:
        return True
    return at is not None and (since is None or at >= since) and (until is None or at < until)


def _spent(holder: Holder, bucket: int, model: str | None, given: int, came: int) -> Spent:
    return Spent(
        conversation=holder.key, project=holder.project, bucket=bucket, source=holder.source, model=model,
        above=0, estimated=1, state="counted", is_stated=0, answers=1, input=given, output=came,
        cache_read=0, cache_write=0, cache_write_5m=0, cache_write_1h=0, reasoning=0, other=0, cost_usd=None,
    )  # fmt: skip
