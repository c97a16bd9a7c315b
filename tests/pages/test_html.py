"""Web pages, without a browser: nothing but our own elements, and all that was said is there to read."""

from __future__ import annotations

import ast
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from agent_journal import writers
from agent_journal.files import ZipBundle
from agent_journal.model import (
    Citation,
    Code,
    Conversation,
    Event,
    Item,
    Media,
    Memory,
    Message,
    Other,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    Usage,
)
from agent_journal.notes import Notes
from agent_journal.rendering import diffs, markdown, markup, terminal_output
from agent_journal.text import sanitize
from agent_journal.writers import RelatedConversation, Run
from tests import pam_bundle
from tests.cases import leaves
from tests.models import items as any_items
from tests.pages import hostile
from tests.pages.page import Page, missing

PACKAGE = Path(markup.__file__).parent
RUN = Run(note=Notes(), started_at="2026-11-01T12:00:00Z", program="agent-journal/1.2.3")
DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def written(*items: Item, run: Run = RUN) -> str:
    out = io.BytesIO()
    writers.get("html").write(items, out, run)
    return out.getvalue().decode()


def said(*parts: Part) -> str:
    """A page with one message."""
    message = Message(id="m", role="assistant", parts=[*parts])
    return written(Conversation(id="c", source="kitchen", timeline=[message]))


def body(page: str) -> str:
    """What a page says in its conversations."""
    return page.partition('tabindex="-1">')[2].partition("</main>")[0]


def test_what_the_api_would_have_cost_is_shown_as_that() -> None:
    """Per answer and in sum; what a source states is no list price, and no answer is counted twice."""
    answers: list[Message | Event] = [
        Message(id="1", role="assistant", usage=Usage(key="k", input=5)),
        Message(id="2", role="assistant", usage=Usage(key="k", input=7)),
        Message(id="3", role="assistant", usage=Usage(input=9, cost_usd=4.0)),
        Message(id="4", role="assistant", usage=Usage(input=11), model="unknown"),
    ]
    run = replace(RUN, list_price=lambda _, answer: None if answer.model else answer.usage.input / 2)
    page = written(Conversation(id="c", source="kitchen", shape="list", timeline=answers), run=run)

    assert ["7 in, list price $3.50", "9 in, $4.00", "11 in"] == re.findall('class="cost">(.*?)<', page)
    assert "API list price: $3.50, 1 answer not priced" in page


@pytest.mark.parametrize("payload", hostile.XSS)
def test_what_is_hostile_is_text(payload: str) -> None:
    items, words = hostile.items(payload)
    page = Page(written(*items))

    assert [] == page.errors
    assert 1 == len(page.scripts)
    assert [] == [word for word in words if word not in page.text + "".join(page.values)]
    assert set() == missing(sanitize.safe(payload), page)


def test_every_kind_of_attack_is_tried() -> None:
    assert len({*hostile.XSS}) == len(hostile.XSS) >= 32


ENDS_IN_NOTHING = Message(id="m", role="user", parts=[Media(kind="image", name="a\x0c")])


@settings(max_examples=min(settings().max_examples, 40))
@given(items=st.lists(any_items, max_size=2))
# A name may end with what looks like nothing.
@example(items=[Conversation(id="c", source="s", timeline=[ENDS_IN_NOTHING])])
def test_any_model(items: list[Item]) -> None:
    page = Page(body(written(*items)))

    assert [] == page.errors
    assert len(page.ids) == len({*page.ids})
    for item in items:
        for text in readable(item):
            # A carriage return ends a line, as a line feed does.
            assert set() == missing(sanitize.safe(re.sub("\r\n?", "\n", text)), page)


def readable(item: Item) -> list[str]:
    """What a page promises to show of an item."""
    if isinstance(item, Memory):
        return [item.text]
    found = [item.title or ""]
    for entry in item.timeline:
        if isinstance(entry, Event):
            found += [entry.name, *in_json(entry.data)]
            continue
        for part in entry.parts:
            found += of_part(part)
    return found


def of_part(part: object) -> list[str]:
    match part:
        case Text():
            return [part.text]
        case Code():
            return [part.code]
        case Reasoning():
            return [part.text or "", part.summary or ""]
        case ToolCall():
            return [part.name]
        case ToolResult() if isinstance(part.output, str):
            return [part.output]
        case ToolResult():
            return [text for each in part.output for text in of_part(each)]
        case Media():
            return [part.name or ""]
        case Other():
            return [part.data] if isinstance(part.data, str) else in_json(part.data)
    return []


def in_json(value: object) -> list[str]:
    return [json.dumps(text, ensure_ascii=False) for _, text in leaves(value)]


PIECES = [
    *(
        "a",
        "bc",
        " ",
        "\n",
        "\n\n",
        "    ",
        "\t",
        "*",
        "**",
        "_",
        "`",
        "``",
        "```",
        "```py x\n",
        "~~~",
        "#",
        "# ",
    ),
    *(
        "> ",
        "- ",
        "1. ",
        "[",
        "]",
        "](",
        ")",
        "[x]: ",
        "![",
        "<",
        ">",
        "<b>",
        "</b>",
        "<!--",
        "-->",
        "|",
        "|-|\n",
    ),
    *(
        "| a | b |\n|---|:-:|\n",
        "&",
        "&amp;",
        "&copy;",
        "&#x202e;",
        "\\",
        '"',
        "'",
        "http://a.b/",
        "www.a.b",
        "a@b.c",
    ),
    *(
        "javascript:x",
        "data:",
        "---\n",
        "===\n",
        "~~",
        "- [ ] ",
        "- [x] ",
        "é",
        "\u202e",
        "\x1b[31m",
        "$x$",
        "[^1]",
    ),
]


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_any_markdown(said: str) -> None:
    page = Page(markdown.prose(said))

    assert [] == page.errors
    assert set() == missing(sanitize.safe(said.replace("[x]", "")), page)


@given(
    st.lists(
        st.sampled_from(
            ["\x1b[", "m", "0", "1", "31", ";", ":", "38;5;", "48;2;", "99", "x", "\r", "\n", "<b>"]
        )
    )
)
def test_any_terminal(pieces: list[str]) -> None:
    output = "".join(pieces)
    page = Page(terminal_output.terminal_markup(output))

    assert [] == page.errors
    told = re.sub(r"\x1b\[[0-9;:]*m", "", output.replace("\r\n", "\n").replace("\r", "␍\n"))
    assert sanitize.safe(told) == page.text


@given(st.text("ab+-@ \n", max_size=30), st.text("ab \n", max_size=30))
def test_any_difference(old: str, new: str) -> None:
    assert old == Page(diffs.diff(old)).text
    lines = Page(diffs.change(old, new)).text.split("\n")[:-1]

    assert old.split("\n") == [line[1:] for line in lines if line[0] in " -"]
    assert new.split("\n") == [line[1:] for line in lines if line[0] in " +"]


MARKDOWN = {
    "**b** *i* ~~d~~ `c`": "<p><strong>b</strong> <em>i</em> <del>d</del> <code>c</code></p>",
    "# T\n\n## U": "<h3>T</h3><h4>U</h4>",
    "plain\nlines\n\nand more": "<p>plain\nlines</p><p>and more</p>",
    "- a\n- [x] b": "<ul><li>a</li><li>☑ b</li></ul>",
    "3. a": '<ol start="3"><li>a</li></ol>',
    "```py t\na < b\n```": '<pre data-lang="py t"><code>a &lt; b\n</code></pre>',
    "```diff\n-a\n+b\n```": (
        '<pre class="diff"><span class="removed">-a\n</span><span class="added">+b\n</span></pre>'
    ),
    "- [x] a_b\n\n|a|\n|-|": (
        '<ul><li>☑ a_b</li></ul><div class="wide"><table><thead><tr><th>a</th></tr></thead></table></div>'
    ),
    "|a|\n|-:|\n|1|": (
        '<div class="wide"><table><thead><tr><th class="right">a</th></tr></thead>'
        '<tbody><tr><td class="right">1</td></tr></tbody></table></div>'
    ),
    "[a](https://e.org/?q=1&r 't')": (
        '<p><a href="https://e.org/?q=1&amp;r" rel="noopener noreferrer" title="t">a</a></p>'
    ),
    "[](https://e.org/)": '<p><a href="https://e.org/" rel="noopener noreferrer">https://e.org/</a></p>',
    "[a](javascript:x 't')": '<p><span class="refused">a (javascript:x t)</span></p>',
    "![a](https://e.org/x.png)": (
        '<p><a href="https://e.org/x.png" rel="noopener noreferrer">[image: a]</a></p>'
    ),
    "![a](file:///etc/passwd)": '<p><span class="refused">[image: a] (file:///etc/passwd)</span></p>',
    "<b onclick=x>b</b>": "<p>&lt;b onclick=x&gt;b&lt;/b&gt;</p>",
    "<system>\n  be\n</system>": "&lt;system&gt;\n  be\n&lt;/system&gt;",
    "&#x202e;&lt;": "<p>\\u202e&lt;</p>",
    "a\r\nb": "<p>a\nb</p>",
}


@pytest.mark.parametrize(("said", "shown"), MARKDOWN.items())
def test_markdown(said: str, shown: str) -> None:
    assert f'<div class="prose">{shown}</div>' == markdown.prose(said)


@pytest.mark.parametrize(
    "said", ["[x]: javascript:y 'z'", "|a|\n|-|\n|1|lost|", "a [b]\n\n[b]: nowhere 'title'"]
)
def test_what_markdown_would_leave_out_is_shown_as_it_was_written(said: str) -> None:
    page = Page(markdown.prose(said))

    assert said in page.text or set() == missing(said, page)


def test_a_line_of_mail_addresses_does_not_end_the_process() -> None:
    """The renderer that makes links of them calls itself for each: 66,000 were more than its stack holds."""
    listed = "ana@example.org, " * 66_000
    program = (
        "import sys; from agent_journal.rendering.markdown import prose; print(len(prose(sys.stdin.read())))"
    )
    ran = [sys.executable, "-c", program]
    done = subprocess.run(ran, input=listed, capture_output=True, text=True, check=False)

    assert (0, True) == (done.returncode, int(done.stdout or 0) >= len(listed.strip()))
    assert 'href="mailto:ana@example.org"' in markdown.prose("ana@example.org\n" * 600)


def test_terminal_output_has_its_colors() -> None:
    shown = terminal_output.terminal_markup("a\x1b[1;31mb\x1b[0m\x1b[38;5;46mc\x1b[39m\x1b[2Kd")

    assert 'a<span class="bold fg1">b</span><span class="fg2">c</span>\\x1b[2Kd' == shown


def test_a_picture_is_what_its_bytes_are() -> None:
    drawing = "PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+"
    page = Page(
        said(
            Media(kind="image", mime="image/svg+xml", name="named", data=DOT),
            Media(kind="image", mime="image/png", name="drawing", data=drawing),
            Media(kind="image", mime="image/png", name="broken", data=f'{DOT[:40]}" onerror=x'),
            Media(kind="image", name="far", ref="https://e.org/x.png"),
        )
    )

    assert [] == page.errors
    assert [f"data:image/png;base64,{DOT}"] == page.pictures
    assert "https://e.org/x.png" in page.addresses
    assert all(word in page.text for word in ("drawing", "broken"))


def test_what_is_cited_without_a_name_is_something() -> None:
    page = said(Text(text="Oiled.", citations=[Citation(title="axle.py"), Citation(extra={"chunk": 7})]))

    assert '<ol class="sources"><li><span>axle.py</span></li><li><span>something</span></li></ol>' in page


def test_edits_are_shown_as_changes() -> None:
    changed = {"file_path": "a.py", "old_string": "a\nb", "new_string": "a\nc"}
    shown = body(said(ToolCall(name="Edit", kind="edit", input=changed)))
    lines = '<span> a\n</span><span class="removed">-b\n</span><span class="added">+c\n</span>'

    assert f'<pre class="diff">{lines}</pre>' in shown
    assert "<dt>file_path</dt><dd><code>a.py</code></dd>" in shown


def test_what_only_the_commands_say_is_in_the_terminal() -> None:
    call = ToolCall(name="Bash", kind="shell", call_id="1", input={"command": "ls <x>"})
    answer = Message(id="r", role="user", parts=[ToolResult(call_id="1", output="\x1b[32mok\x1b[0m")])
    asked = Message(id="m", role="assistant", parts=[call])
    shown = body(written(Conversation(id="c", source="kitchen", shape="list", timeline=[asked, answer])))

    assert '<pre class="terminal"><span class="prompt">$ </span>ls &lt;x&gt;</pre>' in shown
    assert '<pre class="terminal"><span class="fg2">ok</span></pre>' in shown
    assert 'id="' in shown.partition('class="result"')[2][:8]


def test_tokens_are_recorded_once_at_the_last_message_of_an_answer() -> None:
    first, last = Usage(key="k", input=7, output=1), Usage(key="k", input=7, output=5, cost_usd=0.25)
    timeline: list[Message | Event] = [
        Message(id="1", role="assistant", parts=[Text(text="a")], usage=first),
        Message(id="2", role="assistant", parts=[Text(text="b")], usage=last),
    ]
    page = written(Conversation(id="c", source="kitchen", shape="list", timeline=timeline))

    assert "<li>tokens: 7 in, 5 out, $0.25</li>" in page
    assert ["7 in, 5 out, $0.25"] == re.findall('<span class="cost">(.*?)</span>', page)
    assert "<p>b</p>" in body(page).partition('class="cost"')[0]


def test_links_within_a_page_lead_somewhere() -> None:
    items, _ = hostile.items("x")
    kin = RelatedConversation(id="other", relation="subagent", title="T")
    run = Run(note=Notes(), started_at="", program="p/1", children={("kitchen", items[0].id): (kin,)})
    page = Page(written(*items, run=run))
    inside = {address[1:] for address in page.addresses if address.startswith("#")}

    assert set() == inside - {*page.ids}
    assert len(inside) > 5


def test_links_within_a_folder_lead_somewhere() -> None:
    items, _ = hostile.items("../x")
    kin = RelatedConversation(id="other", relation="fork")
    run = Run(note=Notes(), started_at="", program="p/1", children={("kitchen", items[0].id): (kin,)})
    out = io.BytesIO()
    bundle = ZipBundle(out)
    writers.get("html").write_pages(items, bundle, run)  # type: ignore[attr-defined] # it is one of pages
    bundle.close()
    files = pam_bundle.unzipped(out.getvalue())
    pages = {name: Page(data.decode()) for name, data in files.items() if name.endswith(".html")}

    assert 5 == len(pages)  # an index, two items, a parent and a fork that are not there
    for name, page in pages.items():
        assert [] == [error for error in page.errors if "../media" not in error]
        for address in page.addresses:
            assert leads_to(address, name, pages), address


def leads_to(address: str, name: str, pages: dict[str, Page]) -> bool:
    if ":" in address:
        return True
    path, _, anchor = address.partition("#")
    folder = name.rpartition("/")[0]
    target = path.removeprefix("../") if path.startswith("../") else f"{folder}/{path}".lstrip("/")
    if not path:
        target = name
    if target.startswith("media/"):
        return True
    return target in pages and (not anchor or anchor in pages[target].ids or "m-" in anchor)


def test_the_page_says_what_it_may_do() -> None:
    page = written(Conversation(id="c", source="kitchen"))
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)

    assert policy is not None
    assert re.fullmatch(
        r"default-src 'none'; style-src 'sha256-[\w+/=]{44}'; script-src 'sha256-[\w+/=]{44}'; "
        r"img-src data:; base-uri 'none'; form-action 'none'",
        policy[1],
    )


@pytest.mark.parametrize("theme", ["dark", "light", "auto"])
def test_theme(theme: str) -> None:
    run = Run(note=Notes(), started_at="", program="p/1", theme=theme)  # type: ignore[arg-type]

    assert f'<html lang="en" data-theme="{theme}">' in written(run=run)


def test_markup_is_made_in_one_place() -> None:
    """No other module writes a tag, or says of a text that it is markup."""
    for path in [*PACKAGE.glob("*.py"), *(PACKAGE.parent / "writers" / "html").glob("*.py")]:
        if path.name == "markup.py":
            continue
        nodes = [*ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
        calls = {ast.unparse(node.func) for node in nodes if isinstance(node, ast.Call)}
        assert not calls & {"Markup", "markup.Markup", "cast", "typing.cast"}, path
        docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        literals = [
            node.value
            for node in nodes
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings
        ]
        tags = [text for text in literals if re.search(r"<[a-zA-Z/!]|&\w+;", text)]
        # What the renderer of Markdown makes is looked for, and compared.
        assert not tags or path.name == "markdown.py", tags


@pytest.mark.parametrize(
    "address", ["javascript:x", "//e.org", "data:text/html,x", " https://e.org", "/etc", "a b"]
)
def test_the_sink_refuses_addresses(address: str) -> None:
    with pytest.raises(ValueError, match="href"):
        markup.element("a", {"href": address}, "x")
    with pytest.raises(ValueError, match="src"):
        markup.image(address, "x")


def test_what_is_put_together_outside_is_escaped() -> None:
    made = markup.element("p", "", "x")

    assert "<div>&lt;p&gt;x&lt;/p&gt;!</div>" == markup.element("div", "", made + "!")


PAIR = re.compile(r"--([a-z-]+): light-dark\((#\w+), (#\w+)\)")


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = [
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


ON = {
    "paper": ("ink", "quiet", "link", "user", "assistant", "system", "tool", "bad"),
    "sunken": ("ink", "quiet", "link", "word", "string", "comment", "number", "called"),
    "raised": ("ink", "quiet", "link", "tool", "bad", "word", "string", "comment", "number", "called"),
    "user-paper": ("ink", "quiet", "user", "link"),
    "added-paper": ("added",),
    "removed-paper": ("removed",),
    "hit": ("ink",),
}


@pytest.mark.parametrize("paper", ON)
def test_contrast(paper: str) -> None:
    """AA of WCAG 2.2 for text of any size."""
    style = (PACKAGE / "static" / "page.css").read_text(encoding="utf-8")
    colours = {name: (light, dark) for name, light, dark in PAIR.findall(style)}
    for ink in ON[paper]:
        for place in (0, 1):
            assert contrast(colours[ink][place], colours[paper][place]) >= 4.5, (ink, paper, place)
