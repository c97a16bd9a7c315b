"""Takeout's activity: prompts, and answers as HTML."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from sources.writing import Scribe, array

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def _records(scribe: Scribe) -> Iterator[dict[str, Any]]:
    while True:
        yield {
            "header": "Gemini Apps",
            "title": f"Prompted {scribe.prompt()}",
            "time": scribe.time(scribe.random.choice((60, 120, 300, 5000))),
            "products": ["Gemini Apps"],
            "activityControls": ["Gemini Apps Activity"],
            "safeHtmlItem": [{"html": _html(scribe)}],
        }


def _html(scribe: Scribe) -> str:
    """Paragraphs, headings and lists; now and then a numbered list, a table, code or a link."""
    return f"<p>{_said(scribe)}</p>" + "".join(
        scribe.random.choices(_BLOCKS, _WEIGHTS)[0](scribe) for _ in range(scribe.random.randrange(2, 12))
    )


def _said(scribe: Scribe, typical: int = 120) -> str:
    """Words in one line, as HTML has them."""
    return escape(" ".join(scribe.some(typical, 1200).split()))


def _paragraph(scribe: Scribe) -> str:
    return f"<p>{_said(scribe)} <em>{scribe.text(12)}</em> {_said(scribe, 60)}</p>"


def _section(scribe: Scribe) -> str:
    return f"<h3>{_said(scribe, 20)[:40]}</h3><p>{_said(scribe)}</p>"


def _list(scribe: Scribe, tag: str = "ul") -> str:
    items = (
        f"<li><p><strong>{scribe.text(14).strip()}:</strong> {_said(scribe, 90)}</p></li>"
        for _ in range(scribe.random.randrange(3, 7))
    )
    return f"<{tag}>{''.join(items)}</{tag}>"


def _steps(scribe: Scribe) -> str:
    return _list(scribe, "ol")


def _table(scribe: Scribe) -> str:
    rows = (f"<tr><td>{_said(scribe, 10)}</td><td>{_said(scribe, 30)}</td></tr>" for _ in range(4))
    head = "<thead><tr><th><strong>A</strong></th><th>B</th></tr></thead>"
    return f"<table>{head}<tbody>{''.join(rows)}</tbody></table>"


def _code(scribe: Scribe) -> str:
    return f'<pre><code class="language-python">{escape(scribe.some(300, 4000))}</code></pre>'


def _link(scribe: Scribe) -> str:
    return f'<p>{_said(scribe)} <a href="https://example.org/{scribe.id()}">{scribe.text(12)}</a></p>'


_BLOCKS = (_paragraph, _section, _list, _steps, _table, _code, _link)
_WEIGHTS = (30, 20, 30, 8, 3, 6, 3)


def make(folder: Path, megabytes: int) -> list[Path]:
    """One file with all records."""
    return array(folder / "MyActivity.json", megabytes, _records(Scribe()))


KINDS = {"activity": make}
