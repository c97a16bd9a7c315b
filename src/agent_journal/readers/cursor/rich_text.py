"""Rich text: the document of the input field, which is the only text of some old messages."""

from __future__ import annotations

from typing import Any

from agent_journal.readers.cursor.values import parse_json

_BREAKS = ("paragraph", "linebreak", "code")


def plain(document: Any) -> str:
    """Return the text of a document: its tree as JSON in a string, or plain text."""
    if not isinstance(document, str) or not document:
        return ""
    tree = parse_json(document)
    if not isinstance(tree, dict):
        return document.strip()
    texts: list[str] = []
    pending: list[Any] = [tree.get("root", tree)]
    while pending:
        node = pending.pop()
        if not isinstance(node, dict):
            continue
        if texts and node.get("type") in _BREAKS:
            texts.append("\n")
        if isinstance(text := node.get("text"), str):
            texts.append(text)
        children = node.get("children")
        pending += reversed(children) if isinstance(children, list) else ()
    return "".join(texts).strip()
