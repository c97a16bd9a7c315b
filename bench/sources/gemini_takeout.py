"""Takeout's activity: prompts, and answers as HTML.

`activity` has long answers in plain JSON; `exported` is as a public export of 2026 is written: indented, with
escapes for what HTML is made of, a tag every forty characters and line breaks between blocks. Of a hundred
records, 58 have an answer, 6 files and an answer, 12 a picture that was made, 10 are a canvas, 14 something
else that was done; of a hundred answers, 58 are plain ASCII, and 17 have an emoji.
"""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Any

from sources.writing import MB, Scribe, array

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


_ESCAPES = str.maketrans({character: f"\\u{ord(character):04x}" for character in "<>&='"})


def _exported(scribe: Scribe) -> dict[str, Any]:
    """A record as exports have it."""
    return scribe.random.choices(_RECORDS, _RECORD_WEIGHTS)[0](scribe)


def _record(
    scribe: Scribe,
    title: str,
    html: str | None = None,
    *,
    subtitles: list[dict[str, str]] | None = None,
    image: str | None = None,
    files: list[str] | None = None,
) -> dict[str, Any]:
    return {
        "header": "Gemini Apps",
        "title": title,
        **({"subtitles": subtitles} if subtitles else {}),
        "time": scribe.time(scribe.random.choice((60, 120, 300, 5000))),
        **({"imageFile": image} if image else {}),
        "products": ["Gemini Apps"],
        "activityControls": ["Gemini Apps Activity"],
        **({"safeHtmlItem": [{"html": html}]} if html else {}),
        **({"attachedFiles": files} if files else {}),
    }


def _answered(scribe: Scribe) -> dict[str, Any]:
    return _record(scribe, f"Prompted {scribe.some(60, 2000)}", _dense_html(scribe))


def _with_file(scribe: Scribe) -> dict[str, Any]:
    file = f"{scribe.id()}.jpg"
    listed = [{"name": "Attached 1 file."}, {"name": "-  a.jpg", "url": file}]
    title, html = f"Prompted {scribe.text(40)}", _dense_html(scribe)
    return _record(scribe, title, html, subtitles=listed, image=file, files=[file])


def _picture(scribe: Scribe) -> dict[str, Any]:
    file = f"{scribe.id()}.png"
    html = f'<p><img alt="" src="{file}"></p>\n'
    listed = [{"name": "1 generated image."}]
    return _record(scribe, f"Prompted {scribe.text(90)}", html, subtitles=listed, files=[file])


def _canvas(scribe: Scribe) -> dict[str, Any]:
    title = f"Created Gemini Canvas titled {scribe.text(30).strip()}"
    return _record(scribe, title, subtitles=[{"name": scribe.text(3000)}])


def _act(scribe: Scribe) -> dict[str, Any]:
    return _record(scribe, "Used an Assistant feature")


_RECORDS = (_answered, _with_file, _picture, _canvas, _act)
_RECORD_WEIGHTS = (58, 6, 12, 10, 14)


def _dense_html(scribe: Scribe) -> str:
    """Short blocks, each in a line of its own; the words of most answers are plain."""
    blocks = scribe.random.choices(_DENSE, _DENSE_WEIGHTS, k=scribe.random.randrange(3, 24))
    html = "".join(block(scribe) for block in blocks)
    sign = scribe.random.choices(("", " –", " 🌍"), (58, 25, 17))[0]
    return html.replace("</strong>", f"{sign}</strong>")


def _words(scribe: Scribe, typical: int) -> str:
    """Words in one line, of which some are quoted."""
    quoted = scribe.random.choices(("", " &quot;so&quot;", " it&#39;s"), (68, 10, 22))[0]
    return _plain(" ".join(scribe.text(typical).split())) + quoted


def _plain(text: str) -> str:
    return text.encode("ascii", "ignore").decode()


def _dense_paragraph(scribe: Scribe) -> str:
    return f"<p>{_words(scribe, 120)} <strong>{_words(scribe, 8)}</strong> {_words(scribe, 60)}.</p>\n"


def _dense_heading(scribe: Scribe) -> str:
    return f"<hr>\n<h3>{_words(scribe, 20)}</h3>\n"


def _dense_list(scribe: Scribe) -> str:
    item = "<li><strong>{}:</strong> {} <code>{}</code> {}</li>\n"
    items = (item.format(*(_words(scribe, size) for size in (12, 70, 10, 45))) for _ in range(4))
    return f"<ul>\n{''.join(items)}</ul>\n"


def _dense_code(scribe: Scribe) -> str:
    return f"<pre><code>{escape(_plain(scribe.some(300, 2000)))}\n</code></pre>\n"


def _dense_table(scribe: Scribe) -> str:
    cells = "".join(f'<td align="left">{_words(scribe, 20)}</td>' for _ in range(3))
    head = '<th align="left">A</th>' * 3
    rows = f"<tr>{cells}</tr>" * 4
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>\n"


_DENSE = (_dense_paragraph, _dense_heading, _dense_list, _dense_code, _dense_table)
_DENSE_WEIGHTS = (35, 20, 33, 9, 3)


def make_exported(folder: Path, megabytes: int) -> list[Path]:
    """One file with all records, as it is exported."""
    scribe, path = Scribe(), folder / "MyActivity.json"
    with path.open("w", encoding="utf-8") as out:
        mark = "["
        while out.tell() < megabytes * MB:
            record = json.dumps(_exported(scribe), ensure_ascii=False, indent=2)
            out.write(mark + record.translate(_ESCAPES))
            mark = ","
        out.write("]")
    return [path]


KINDS = {"activity": make, "exported": make_exported}
