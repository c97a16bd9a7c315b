"""Pieces of HTML: tags and runs of tags, references, white space."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

TAG = re.compile(r"(</?[A-Za-z][^<>]*>)")
# Some tags without attributes, with only white space between them; or a `<` that begins no such tag.
RUN = re.compile(r"(<[a-z0-9/]*+>(?:\s*+<[a-z0-9/]*+>){0,50}+|<)")
MAYBE_INVISIBLE = re.compile("<(?:!--|style|script)")
_NAME = re.compile(r"</?[A-Za-z][A-Za-z0-9]*")
_ATTRIBUTE = re.compile(r"""([a-z-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE)
# Everything that `html.unescape` changes matches this, and the result never depends on what follows.
_REFERENCE = re.compile(r"(&(?:#[A-Za-z0-9]*+|[A-Za-z0-9]{0,32}+);?)")
# Nearly all of the references in answers. Replacing them never creates another reference.
_COMMON_REFERENCES = (("&quot;", '"'), ("&#39;", "'"))
_LANGUAGE = re.compile(r"(?:language|lang)-([\w+#.-]+)")
_MAX_TAG_CHARS = 8192
_MAX_REFERENCE_CHARS = 1000
_MAX_MEMO_ENTRIES, _MAX_MEMO_CHARS = 10_000, 1000

BLOCK = "\n\n"


class Memo(dict[str, Any]):
    """Caches the result of a function of a text."""

    def __init__(self, function: Callable[[str], Any]) -> None:
        super().__init__()
        self._function = function

    def __missing__(self, text: str) -> Any:
        result = self._function(text)
        if len(self) < _MAX_MEMO_ENTRIES and len(text) < _MAX_MEMO_CHARS:
            self[text] = result
        return result


def plain_text(html: str) -> str:
    """Remove the tags of HTML; line breaks become newlines."""
    return unescape_all(TAG.sub(lambda tag: "\n" if tag[1].lower().startswith("<br") else "", html))


def split_at_matches(matches: list[re.Match[str]], text: str) -> list[tuple[re.Match[str], str]]:
    """Pair each match with the text after it, up to the next match."""
    ends = [*(match.start() for match in matches[1:]), len(text)]
    return [(match, text[match.end() : end]) for match, end in zip(matches, ends, strict=False)]


def attributes(tag: str) -> dict[str, str]:
    """Get the attributes of a tag."""
    pairs = _ATTRIBUTE.findall(tag[:_MAX_TAG_CHARS])
    return {name.lower(): unescape_all(double or single or bare) for name, double, single, bare in pairs}


def name_of(tag: str) -> str:
    """Get the name of a tag, after `/` if it is an end tag."""
    match = _NAME.match(tag)
    return match[0][1:].lower() if match else ""


def language_in(tags: list[str]) -> str:
    """Get the language of a code block from its first tags."""
    match = _LANGUAGE.search("".join(tags[:2]))
    return match[1] if match else ""


def without_item_paragraphs(run: str) -> str:
    """Remove the paragraphs that begin and end list items: they would separate an item from its bullet."""
    run = run.replace("<li><p>", "<li>").replace("</p></li>", "</li>")
    return run.replace("<li>\n<p>", "<li>") if "\n" in run else run


def escape(value: str) -> str:
    """Escape the value of an attribute as HTML text: all text stays escaped until the end."""
    return value.replace("&", "&amp;")


def unescape_all(text: str) -> str:
    """Resolve all references, like `html.unescape`."""
    return unescape_rest(unescape_common(text))


def unescape_rest(text: str) -> str:
    """Resolve all references in text that has none of the common ones."""
    if "&" not in text:
        return text
    pieces = _REFERENCE.split(text)
    pieces[1::2] = map(_CHARACTERS.__getitem__, pieces[1::2])
    return "".join(pieces)


def unescape_common(text: str) -> str:
    """Resolve the few common references; none of them stands for white space."""
    # CPython (3.11 to 3.13) searches faster from the end; splitting searches once, replacing twice.
    for reference, character in _COMMON_REFERENCES:
        if "&" in text:
            text = character.join(text.rsplit(reference))
    return text


def _character(reference: str) -> str:
    """Resolve one reference; one with thousands of digits is invalid, and `int` cannot parse it."""
    return unescape(reference) if len(reference) < _MAX_REFERENCE_CHARS else reference


_CHARACTERS = Memo(_character)


def collapse_blank_lines(text: str) -> str:
    """Reduce blank lines to one in a row; each round removes at least a third of them."""
    # CPython (3.11 to 3.13) searches several characters faster from the end.
    while text.rfind("\n\n\n") >= 0:
        text = text.replace("\n\n\n", BLOCK)
    return text


def without_source_gaps(text: str) -> str:
    """Drop white space with a line break between tags: it only formats the HTML source."""
    return "" if text.isspace() and "\n" in text else text
