"""HTML in pieces: tags and the runs that they stand in, references, white space."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

TAG = re.compile(r"(</?[A-Za-z][^<>]*>)")
# Some tags without attributes, with only white space between them; or a `<` that begins no such tag.
RUN = re.compile(r"(<[a-z0-9/]*+>(?:\s*+<[a-z0-9/]*+>){0,50}+|<)")
MAYBE_UNSEEN = re.compile("<(?:!--|style|script)")
_NAME = re.compile(r"</?[A-Za-z][A-Za-z0-9]*")
_ATTRIBUTE = re.compile(r"""([a-z-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE)
# All that `html.unescape` may change begins so: what it makes of it never depends on what is behind.
_REFERENCE = re.compile(r"(&(?:#[A-Za-z0-9]*+|[A-Za-z0-9]{0,32}+);?)")
# Nearly all of the references that answers have. What they stand for makes no other reference of what is
# around them.
_OFTEN = (("&quot;", '"'), ("&#39;", "'"))
_LANGUAGE = re.compile(r"(?:language|lang)-([\w+#.-]+)")
_LONGEST_TAG = 8192
_LONGEST_REFERENCE = 1000
_MOST_REMEMBERED, _LONGEST_REMEMBERED = 10_000, 1000

BLOCK = "\n\n"


class Remembered(dict[str, Any]):
    """What each text means, found out once."""

    def __init__(self, meaning_of: Callable[[str], Any]) -> None:
        super().__init__()
        self._meaning_of = meaning_of

    def __missing__(self, text: str) -> Any:
        meaning = self._meaning_of(text)
        if len(self) < _MOST_REMEMBERED and len(text) < _LONGEST_REMEMBERED:
            self[text] = meaning
        return meaning


def plain(html: str) -> str:
    """The HTML without its marks: line breaks are lines, all else is what was typed."""
    return unescaped(TAG.sub(lambda tag: "\n" if tag[1].lower().startswith("<br") else "", html))


def until_next(found: list[re.Match[str]], text: str) -> list[tuple[re.Match[str], str]]:
    """Each match, with the text behind it up to the next one."""
    ends = [*(match.start() for match in found[1:]), len(text)]
    return [(match, text[match.end() : end]) for match, end in zip(found, ends, strict=False)]


def attributes(tag: str) -> dict[str, str]:
    """What a tag says beside its name."""
    found = _ATTRIBUTE.findall(tag[:_LONGEST_TAG])
    return {name.lower(): unescaped(one or two or three) for name, one, two, three in found}


def name_of(tag: str) -> str:
    """What a tag is called, behind `/` if it ends something."""
    found = _NAME.match(tag)
    return found[0][1:].lower() if found else ""


def language_in(tags: list[str]) -> str:
    """The language that the first tags of a block of code say it is in."""
    found = _LANGUAGE.search("".join(tags[:2]))
    return found[1] if found else ""


def tight(run: str) -> str:
    """Tags without the paragraphs that begin and end an item: they would part it from its mark."""
    run = run.replace("<li><p>", "<li>").replace("</p></li>", "</li>")
    return run.replace("<li>\n<p>", "<li>") if "\n" in run else run


def escaped(value: str) -> str:
    """A value from an attribute as text of HTML, which all is until the end."""
    return value.replace("&", "&amp;")


def unescaped(text: str) -> str:
    """What `html.unescape` gives."""
    return others_unescaped(often_unescaped(text))


def others_unescaped(text: str) -> str:
    """The same for text that is without the references which are used often."""
    if "&" not in text:
        return text
    pieces = _REFERENCE.split(text)
    pieces[1::2] = map(_CHARACTERS.__getitem__, pieces[1::2])
    return "".join(pieces)


def often_unescaped(text: str) -> str:
    """Text without the few references that are used often; none of them stands for white space."""
    # CPython (3.11 to 3.13) finds words faster from the end, and looks once to split, twice to replace.
    for reference, character in _OFTEN:
        if "&" in text:
            text = character.join(text.rsplit(reference))
    return text


def _character(reference: str) -> str:
    """The character that a reference stands for; thousands of digits stand for none, and cannot be read."""
    return unescape(reference) if len(reference) < _LONGEST_REFERENCE else reference


_CHARACTERS = Remembered(_character)


def with_single_gaps(text: str) -> str:
    """Never more than one empty line; each round leaves at most two thirds of them."""
    # CPython (3.11 to 3.13) finds several characters faster from the end.
    while text.rfind("\n\n\n") >= 0:
        text = text.replace("\n\n\n", BLOCK)
    return text


def spaced(text: str) -> str:
    """Text between tags: a line break in white space is for whoever reads the source."""
    return "" if text.isspace() and "\n" in text else text
