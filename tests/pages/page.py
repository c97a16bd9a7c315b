"""A page as a parser sees it: which elements it has, where it leads, and what there is to read."""

from __future__ import annotations

import html
import re
from functools import cached_property
from html.parser import HTMLParser

from agent_journal.rendering import markup

TAGS = {*markup.Tag.__args__} | {  # type: ignore[attr-defined] # a Literal has its words
    *("html", "head", "meta", "title", "style", "body", "form", "input", "button", "main", "footer"),
    *("dialog", "kbd", "script", "em", "strong", "del", "hr", "br", "thead", "tbody", "tr"),
}
VOID = {"meta", "input", "img", "hr", "br"}
OF_CONTENT = {*markup.Name.__args__}  # type: ignore[attr-defined] # likewise
OF_FRAME = {
    *("lang", "data-theme", "charset", "http-equiv", "content", "name", "role", "type", "placeholder"),
    *("autocomplete", "spellcheck", "aria-pressed", "aria-labelledby", "tabindex", "method"),
}


class Page(HTMLParser):
    """What is in a page; `errors` says what should not be."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.errors: list[str] = []
        self.texts: list[str] = []
        self.values: list[str] = []
        self.addresses: list[str] = []
        self.pictures: list[str] = []
        self.ids: list[str] = []
        self.scripts: list[str] = []
        self._open: list[str] = []
        self.feed(page)
        self.close()
        if self._open:
            self.errors.append(f"never closed: {self._open}")

    @cached_property
    def text(self) -> str:
        return "".join(self.texts)

    @cached_property
    def shown(self) -> str:
        """What is there to read, also by who looks at attributes."""
        return self.text + "\n".join(self.values)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in TAGS:
            self.errors.append(f"<{tag}>")
        if tag not in VOID:
            self._open.append(tag)
        names = [name for name, _ in attrs]
        strange = {*names} - OF_CONTENT - OF_FRAME
        if strange or len({*names}) < len(names):
            self.errors.append(f"<{tag}> with {names}")
        for name, value in attrs:
            self._attribute(tag, name, value or "")

    def _attribute(self, tag: str, name: str, value: str) -> None:
        self.values.append(value)
        if name == "id":
            self.ids.append(value)
        if name == "href":
            self.addresses.append(value)
            if not re.match(
                r"#[\w-]+\Z|https?://|mailto:|(\.\./)?[\w/-]+\.html(#[\w-]+)?\Z", value, re.ASCII
            ):
                self.errors.append(f"a link to {value!r}")
        if name == "src":
            self.pictures.append(value)
            if tag != "img" or not re.match(r"data:image/(png|jpeg|gif|webp);base64,[\w+/=]+\Z", value):
                self.errors.append(f"<{tag}> from {value!r}")
        if name.startswith("on") or name == "style":
            self.errors.append(f"{name} of <{tag}>")

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return  # `<hr />` is both
        if not self._open or self._open.pop() != tag:
            self.errors.append(f"</{tag}> where none is open")

    def handle_data(self, data: str) -> None:
        if self._open[-1:] == ["script"]:
            self.scripts.append(data)
        elif self._open[-1:] != ["style"]:
            self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        self.errors.append(f"a comment: {data[:40]!r}")

    def handle_decl(self, decl: str) -> None:
        if decl != "doctype html":
            self.errors.append(f"a declaration: {decl[:40]!r}")

    def handle_pi(self, data: str) -> None:
        self.errors.append(f"an instruction: {data[:40]!r}")

    def unknown_decl(self, data: str) -> None:
        self.errors.append(f"a declaration: {data[:40]!r}")


_WORD = re.compile(r"[^\W_]+")


def missing(said: str, page: Page) -> set[str]:
    """The words of a text that a page does not show.

    A character may be written as its name, and a number may count the items of a list.
    """
    wanted = {*_WORD.findall(said)} & {*_WORD.findall(html.unescape(said))}
    return {word for word in wanted if word not in page.shown and not word.isdecimal()}
