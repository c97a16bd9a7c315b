"""What is looked for, cut into words as the index cuts texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from agent_journal.search import words

if TYPE_CHECKING:
    from agent_journal.search.query import Term

MOST_WORDS = 64  # of one term


class Form(NamedTuple):
    """Words that stand in a row."""

    words: list[str]
    prefix: bool  # the last may go on

    @property
    def spaced(self) -> str:
        """What stands in a text, as `spaced` writes it, that has them."""
        return f" {' '.join(self.words)}{'' if self.prefix else ' '}"


def forms_of(term: Term) -> list[Form]:
    """A term as it stands and as its humps; places in files without lines, versions with and without v."""
    text = term.text if term.text.isascii() else words.sought(term.text)
    written = [text]
    if not term.quoted:
        written += (words.without_line(text), words.other_version(text))
        if text.isascii():
            written.append(" ".join(words.humps_of(text)))
    cuts = [words.cut(each) for each in dict.fromkeys(written)]
    forms = [Form(cut[:MOST_WORDS], term.prefix or words.is_single(cut[-1])) for cut in cuts if cut]
    return [form for place, form in enumerate(forms) if form not in forms[:place]]


def spaced(text: str) -> str:
    """A text as the index has it: every word with a blank before and behind it."""
    return f" {f' {words.GAP} '.join(' '.join(each.split()) for each in words.prepared(text))} "
