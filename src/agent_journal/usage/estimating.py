"""Estimate the usage of answers without token counts, with a tokenizer.

Counted is the text sent to the model since its last answer, with attached files, and its answer. Hidden
prompts and the history that a program sends again with every request are not: it is a lower bound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.archive.rows import row_of
from agent_journal.archive.store import Filter, UsageSum
from agent_journal.errors import MissingExtra
from agent_journal.model import Message, timestamps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from agent_journal.archive.store import Store, UsageConversation
    from agent_journal.model import Event

_SLOT_MS = 900_000
# A tokenizer's time grows more than linearly with the length of the text.
_MAX_PIECE_CHARS = 100_000


def estimate_usage(
    store: Store,
    selection: Filter,
    bucket: Callable[[int | None], int],
    count: Callable[[str], int] | None = None,
) -> Iterator[UsageSum]:
    """Yield the estimated usage of each answer without counts."""
    count = load_tokenizer() if count is None else count
    since, until = timestamps.epoch_ms(selection.since), timestamps.epoch_ms(selection.until)
    of_conversations = Filter(
        source=selection.source, project=selection.project, title=selection.title, with_children=True
    )
    holders = store.usage_conversations()
    for listed in list(store.conversations(of_conversations)):
        copied_keys = store.copied_keys(listed.key)
        for message, prompt_texts in _uncounted(store.entries(listed.key), copied_keys):
            at = timestamps.epoch_ms(message.at)
            model = message.model or listed.model
            if _is_in_period(at, since, until) and (
                not selection.model or selection.model.lower() in (model or "").lower()
            ):
                tokens = sum(map(count, prompt_texts)), sum(map(count, _message_texts(message)))
                slot = bucket(None if at is None else at // _SLOT_MS)
                yield _estimate(holders[listed.key], slot, model, *tokens)


def load_tokenizer() -> Callable[[str], int]:
    """Return a function that counts tokens as OpenAI's models since GPT-4o; others differ somewhat."""
    try:
        from rs_bpe.bpe import openai  # type: ignore[import-not-found,unused-ignore] # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra("estimating tokens", "tokens") from error
    encoder = openai.o200k_base()

    def count(text: str) -> int:
        pieces = range(0, len(text), _MAX_PIECE_CHARS)
        return sum(encoder.count(text[start : start + _MAX_PIECE_CHARS]) for start in pieces)

    return count


def _uncounted(
    entries: Iterable[tuple[int, Message | Event]], copied: set[int]
) -> Iterator[tuple[Message, list[str]]]:
    """Yield answers without stated counts, each with the texts since the previous answer."""
    messages = [(key, entry) for key, entry in entries if isinstance(entry, Message)]
    stated = {entry.response_id for _, entry in messages if _has_counts(entry)} - {None}
    prompt_texts: list[str] = []
    for key, entry in messages:
        if entry.role != "assistant":
            prompt_texts += _message_texts(entry) if key not in copied else []
            continue
        if not (_has_counts(entry) or entry.response_id in stated or key in copied) and entry.parts:
            yield entry, prompt_texts
        prompt_texts = []


def _has_counts(message: Message) -> bool:
    usage = message.usage
    return usage is not None and (usage.output is not None or usage.total is not None)


def _message_texts(message: Message) -> list[str]:
    row = row_of(message)
    return [text for text in (row.text, row.thinking, row.tool, row.attached) if text]


def _is_in_period(at: int | None, since: int | None, until: int | None) -> bool:
    if since is None and until is None:
        return True
    return at is not None and (since is None or at >= since) and (until is None or at < until)


def _estimate(holder: UsageConversation, bucket: int, model: str | None, given: int, came: int) -> UsageSum:
    return UsageSum(
        conversation=holder.key, project=holder.project, bucket=bucket, source=holder.source, model=model,
        price_tier_threshold=0, estimated=1, state="counted", is_stated=0, answers=1,
        input=given, output=came,
        cache_read=0, cache_write=0, cache_write_5m=0, cache_write_1h=0, reasoning=0, other=0, cost_usd=None,
    )  # fmt: skip
