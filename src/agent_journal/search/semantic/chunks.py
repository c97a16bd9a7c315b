"""Split texts into chunks that are short enough for one vector each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.decoding.text_encoding import encodable
from agent_journal.search.words import strip_blobs

if TYPE_CHECKING:
    from collections.abc import Iterator

CHUNKING_VERSION = 1  # of how texts are split; vectors of another version are rebuilt

# In bytes of UTF-8, as a Chinese character carries more than a Latin letter. Measured on messages with the
# answer among other things (nDCG@10 of all queries): 200 0.66, 250 0.66, 300 0.62, 400 0.59, 1,000 0.45.
MAX_CHUNK_BYTES = 250
OVERLAP_BYTES = 60
MAX_CHUNKS = 48  # per message: the rest of a pasted file is found by its words
_MAX_WORD_CHARS = 40  # languages without spaces are split there


def split_chunks(text: str, limit: int = MAX_CHUNKS) -> list[str]:
    """Return the chunks of a text, with single spaces and without Base64."""
    text = encodable(text[: limit * MAX_CHUNK_BYTES * 4])
    words = list(_words(strip_blobs(text)))
    sizes = [len(word.encode()) + 1 for word in words]
    chunks: list[str] = []
    start = 0
    while start < len(words) and len(chunks) < limit:
        end, size = start, 0
        while end < len(words) and (size + sizes[end] <= MAX_CHUNK_BYTES or end == start):
            size += sizes[end]
            end += 1
        chunks.append(" ".join(words[start:end]))
        if end == len(words):
            break
        start = _next_start(sizes, start, end)
    return chunks


def first_and_last_chunk(text: str) -> list[str]:
    """Return the first and last chunk of a text: there a tool's output states what failed."""
    first = split_chunks(text[: MAX_CHUNK_BYTES * 2], 1)
    return first if len(text) <= MAX_CHUNK_BYTES else [*first, *split_chunks(text[-MAX_CHUNK_BYTES:], 1)]


def _next_start(sizes: list[int], start: int, end: int) -> int:
    """Return where the next chunk begins: chunks overlap, so that no sentence is split in both."""
    shared = 0
    while end - 1 > start and shared + sizes[end - 1] <= OVERLAP_BYTES:
        end -= 1
        shared += sizes[end]
    return end


def _words(text: str) -> Iterator[str]:
    for word in text.split():
        if len(word) <= _MAX_WORD_CHARS:
            yield word
        else:
            yield from (word[at : at + _MAX_WORD_CHARS] for at in range(0, len(word), _MAX_WORD_CHARS))
