"""Web pages in a real browser: what is hostile does nothing, and what is ours works."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from playwright.sync_api import Browser

from agent_journal import files, writers
from agent_journal.model import Conversation, Item, Media, Message, Reasoning, Text, ToolCall, ToolResult
from agent_journal.notes import Notes
from agent_journal.writers import Run
from tests.pages import hostile
from tests.pages.browser import chromium, opened
from tests.pages.test_html import DOT
from tests.test_writers import kitchen_sink


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


def run(theme: str = "auto") -> Run:
    return Run(note=Notes(), started_at="2026-11-01T12:00:00Z", program="p/1", theme=theme)  # type: ignore[arg-type]


def page_of(folder: Path, *items: Item, theme: str = "auto") -> Path:
    path = folder / "page.html"
    with path.open("wb") as out:
        writers.get("html").write(items, out, run(theme))
    return path


def folder_of(folder: Path, *items: Item) -> Path:
    with files.bundle(f"{folder}/pages/", is_folder=True) as bundle:
        writers.get("html").write_pages(items, bundle, run())  # type: ignore[attr-defined] # it is one of pages
    return folder / "pages"


def talk() -> Conversation:
    """Two questions, and an answer with a thought and a tool."""
    call = ToolCall(name="Bash", kind="shell", call_id="1", input={"command": "ls"})
    return Conversation(
        id="talk",
        source="kitchen",
        title="A talk",
        shape="list",
        timeline=[
            Message(id="q1", role="user", parts=[Text(text="Where is the **needle**?")]),
            Message(id="a1", role="assistant", parts=[Reasoning(text="a thought"), call]),
            Message(id="r1", role="tool", parts=[ToolResult(call_id="1", output="haystack pin")]),
            Message(id="a2", role="assistant", parts=[Text(text="```py\ndef f():\n    return 1\n```")]),
            Message(id="q2", role="user", parts=[Text(text="Thank you.")]),
        ],
    )


FOUND = "document.getElementById('found').textContent"
SCRIPTS = "document.querySelectorAll('script:not([type])').length"
HANDLERS = """
[...document.querySelectorAll("*")].filter(e => e.getAttributeNames().some(n => n.startsWith("on"))).length
"""
ACTS = """
for (const each of document.querySelectorAll("details")) each.open = true;
for (const each of document.querySelectorAll("main *"))
  for (const kind of ["mouseover", "focus", "error", "load", "toggle", "click"])
    if (!each.closest("a, summary")) each.dispatchEvent(new Event(kind));
"""


def test_what_is_hostile_does_nothing(browser: Browser, tmp_path: Path) -> None:
    everything = [(payload, *hostile.items(payload)) for payload in hostile.XSS]
    # Each conversation has another id, as payloads differ.
    path = page_of(tmp_path, *[item for _, items, _ in everything for item in items])
    with opened(browser, path) as it:
        it.tell(ACTS)
        it.page.wait_for_timeout(200)

        assert [] == it.deeds()
        assert [1, 0] == [it.tell(SCRIPTS), it.tell(HANDLERS)]
        assert path.as_uri() == it.page.url
        shown = it.tell("document.body.textContent")
        # A word of one conversation is one of each.
        assert all(shown.count(word) >= len(everything) - 4 for word in ("zq0qz", "zq9qz", "zq20qz"))


def test_a_folder_of_what_is_hostile_does_nothing(browser: Browser, tmp_path: Path) -> None:
    items = [item for payload in hostile.XSS for item in hostile.items(payload)[0]]
    folder = folder_of(tmp_path, *items)

    assert {"index.html", "conversations", "media"} == {path.name for path in folder.iterdir()}
    with opened(browser, folder / "index.html") as it:
        assert len(items) == it.tell("document.querySelectorAll('.entry').length")
        it.page.fill("#find", "</script><img src=x onerror=pwned()>")
        it.page.keyboard.press("Enter")

        assert [] == it.deeds()
        assert [1, 0] == [it.tell(SCRIPTS), it.tell(HANDLERS)]


def test_search_unfolds_its_hits(browser: Browser, tmp_path: Path) -> None:
    with opened(browser, page_of(tmp_path, talk())) as it:
        it.page.keyboard.press("/")
        it.page.keyboard.type("HAYSTACK")
        it.page.keyboard.press("Enter")
        it.until(FOUND, "1 of 1")

        assert it.tell("document.querySelector('details.tool').open")
        assert not it.tell("document.querySelector('details.thinking').open")
        assert "haystack" == it.tell("[...CSS.highlights.get('hit')].map(String).join()")
        it.page.fill("#find", "nowhere to be found")
        it.until(FOUND, "0 matches")
        assert [] == it.deeds()


def test_keys_go_from_message_to_message(browser: Browser, tmp_path: Path) -> None:
    with opened(browser, page_of(tmp_path, talk())) as it:

        def at() -> str:
            return str(it.tell("document.querySelector('.current').id")).rpartition("-")[2]

        places = []
        for key in "jjjjjkkn":
            it.page.keyboard.press(key)
            places.append(at())
        assert ["q1", "a1", "a2", "q2", "q2", "a2", "a1", "q2"] == places

        it.page.keyboard.press("p")
        it.page.keyboard.press("j")
        it.page.keyboard.press("o")
        assert [True, True] == it.tell("[...document.querySelectorAll('.current details')].map(d => d.open)")
        it.page.keyboard.press("o")
        assert [False, False] == it.tell(
            "[...document.querySelectorAll('.current details')].map(d => d.open)"
        )
        it.page.keyboard.press("e")
        assert 0 == it.tell("document.querySelectorAll('main details:not([open])').length")
        it.page.keyboard.press("?")
        assert it.tell("document.getElementById('help').open")
        it.page.keyboard.press("Escape")
        assert not it.tell("document.getElementById('help').open")
        assert [] == it.deeds()


LOCATED = "document.querySelector('#contents [aria-current]').textContent"


def test_keys_go_on_from_what_is_in_view(browser: Browser, tmp_path: Path) -> None:
    """Also where no message but something between messages is at the edge; focus goes along."""
    long = [
        Message(
            id=f"m{number}",
            role="user",
            at=f"2026-03-{number + 10}T10:00:00Z",
            parts=[Text(text="So.\n" * 9)],
        )
        for number in range(12)
    ]
    item = Conversation(id="long", source="kitchen", shape="list", timeline=list(long))
    with opened(browser, page_of(tmp_path, item)) as it:
        assert it.tell(LOCATED).startswith("So.")
        assert "title" == it.tell("document.querySelector('[aria-current]').parentElement.className")
        it.tell("scrollTo(0, document.querySelectorAll('.day')[6].getBoundingClientRect().top - 90)")
        it.page.keyboard.press("j")

        assert it.tell("document.querySelector('.current').id").endswith("m-m7")
        assert it.tell("document.activeElement === document.querySelector('.current')")


def test_nothing_moves_when_a_message_is_marked(browser: Browser, tmp_path: Path) -> None:
    left = "[...document.querySelectorAll('.turn > :last-child')].map(e => e.getBoundingClientRect().left)"
    with opened(browser, page_of(tmp_path, talk())) as it:
        before = it.tell(left)
        for key in "jj":
            it.page.keyboard.press(key)

        assert before == it.tell(left)


def test_nothing_lies_over_the_end_of_a_page(browser: Browser, tmp_path: Path) -> None:
    overlap = """
    document.getElementById("contents").getBoundingClientRect().right
      - document.querySelector(".colophon").getBoundingClientRect().left
    """
    with opened(browser, page_of(tmp_path, talk(), *kitchen_sink())) as it:
        it.page.keyboard.press("G")

        assert it.tell(overlap) <= 0


CODE = {
    "py": "local = done(x)\nfor x in y:",
    "sh": "local x\ndone",
    "sql": "select a from t where x",
    "ts": "let of = 1",
}


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("py", ["for", "in"]),
        ("sh", ["local", "done"]),
        ("sql", ["select", "from", "where"]),
        ("ts", ["let", "of"]),
    ],
)
def test_words_are_colored_by_language(
    browser: Browser, tmp_path: Path, language: str, words: list[str]
) -> None:
    said = Message(id="1", role="assistant", parts=[Text(text=f"```{language}\n{CODE[language]}\n```")])
    item = Conversation(id="c", source="kitchen", timeline=[said])
    with opened(browser, page_of(tmp_path, item)) as it:
        it.until("CSS.highlights.get('word').size", len(words))

        assert words == it.tell(WORDS)


# The least contrast of any text with what it stands on, by WCAG 2, and that text.
CONTRAST = """
() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = (rgb) => rgb.slice(0, 3)
    .map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const found = rgba(getComputedStyle(at).backgroundColor);
      if (found[3] > 250) return found;
    }
    return [255, 255, 255, 255];
  };
  let least = [99, ""];
  for (const each of document.querySelectorAll("body *")) {
    const said = [...each.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    if (!said || !each.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const both = [light(rgba(getComputedStyle(each).color)), light(behind(each))];
    const ratio = (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05);
    if (ratio < least[0]) least = [ratio, each.outerHTML.slice(0, 200)];
  }
  return least;
}
"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_all_text_can_be_read(browser: Browser, tmp_path: Path, dark: bool) -> None:
    with opened(browser, page_of(tmp_path, talk(), *kitchen_sink()), dark=dark) as it:
        it.page.keyboard.press("e")
        ratio, what = it.tell(CONTRAST)

        assert ratio >= 4.5, what


def test_what_a_file_says_has_no_frame_around_each_line(browser: Browser, tmp_path: Path) -> None:
    file = Media(kind="document", name="tea.py", text="def heat():\n    return 60")
    asked = Message(id="q", role="user", parts=[file])
    with opened(browser, page_of(tmp_path, replace(talk(), timeline=[asked]))) as it:
        frame = it.tell("getComputedStyle(document.querySelector('.file pre code')).borderTopStyle")

        assert "none" == frame


def test_nothing_moves_for_who_wants_that(browser: Browser, tmp_path: Path) -> None:
    took = "getComputedStyle(document.querySelector('details.tool summary'), '::before').transitionDuration"
    with opened(browser, page_of(tmp_path, talk())) as it:
        assert "0s" != it.tell(took)
        it.page.emulate_media(reduced_motion="reduce")
        assert "0s" == it.tell(took)


def test_code_is_colored_when_it_is_seen(browser: Browser, tmp_path: Path) -> None:
    with opened(browser, page_of(tmp_path, talk())) as it:
        it.until("CSS.highlights.get('word').size", 2)

        assert ["def", "return"] == it.tell(WORDS)
        assert 1 == it.tell("document.querySelector('pre[data-lang] code').childNodes.length")


WORDS = """
[...CSS.highlights.get("word")].map(r => r.startContainer.data.slice(r.startOffset, r.endOffset))
"""
PAPER = "getComputedStyle(document.body).backgroundColor"
LIGHT, DARK = "rgb(252, 251, 249)", "rgb(23, 24, 27)"


def test_colors(browser: Browser, tmp_path: Path) -> None:
    with opened(browser, page_of(tmp_path, talk()), dark=True) as it:
        assert DARK == it.tell(PAPER)
        it.page.keyboard.press("t")
        it.page.keyboard.press("t")
        assert LIGHT == it.tell(PAPER)
    with opened(browser, page_of(tmp_path, talk(), theme="dark")) as it:
        assert DARK == it.tell(PAPER)
        it.page.emulate_media(media="print")
        assert "rgba(0, 0, 0, 0)" == it.tell(PAPER)
        assert "none" == it.tell("getComputedStyle(document.querySelector('.bar')).display")


def test_everything_is_there_without_a_script(browser: Browser, tmp_path: Path) -> None:
    path = page_of(tmp_path, talk(), *kitchen_sink())
    with opened(browser, path) as it:
        text = it.tell("document.querySelector('main').textContent")
    with opened(browser, path, script=False) as it:
        assert text == it.page.locator("main").text_content()
        assert not it.page.locator("#find").is_visible()
        assert not it.page.locator(".bar").is_visible()  # nothing is in it
        assert not it.page.locator("details.tool .inside").first.is_visible()
        it.page.locator("details.tool summary").first.click()
        assert it.page.locator("details.tool .inside").first.is_visible()
        link = it.page.locator("nav.fork a").first
        link.click()
        assert it.page.url.endswith(f"{link.get_attribute('href')}")
        assert it.page.locator("section:target").is_visible()
        assert [] == it.asked[1:]


def test_the_index_searches_texts(browser: Browser, tmp_path: Path) -> None:
    folder = folder_of(tmp_path, talk(), *kitchen_sink())
    with opened(browser, folder / "index.html") as it:
        it.page.keyboard.press("/")
        it.page.keyboard.type("thank needl")
        it.until(FOUND, "1 conversation")
        assert ["A talk"] == it.tell(
            "[...document.querySelectorAll('.entry a')].filter(e => e.offsetParent).map(e => e.textContent)"
        )
        it.page.keyboard.press("Enter")
        it.page.keyboard.press("Enter")
        it.page.wait_for_selector("h1:text('A talk')")
        it.page.click(".back a")
        it.page.click("text=Everything at once")
        it.page.wait_for_selector("h1:text('Everything at once')")
        assert 1 == it.tell("document.querySelector('.picture img').naturalWidth")
        assert [] == it.deeds()


def test_the_index_leads_to_the_words_that_were_found(browser: Browser, tmp_path: Path) -> None:
    folder = folder_of(tmp_path, talk(), *kitchen_sink())
    with opened(browser, folder / "index.html") as it:
        it.page.fill("#find", "needle")
        it.until(FOUND, "1 conversation")
        it.page.click("text=A talk")
        it.until(FOUND, "1 of 1")
        assert "needle" == it.tell("[...CSS.highlights.get('hit')].map(String).join()")
        it.page.go_back()
        it.page.fill("#find", "thank needl")
        it.until(FOUND, "1 conversation")
        it.page.click("text=A talk")
        it.until(FOUND, "1 of 1")
        assert "thank" == it.page.input_value("#find")
        assert [] == it.deeds()


def test_the_index_has_filters_and_fits_a_telephone(browser: Browser, tmp_path: Path) -> None:
    folder = folder_of(tmp_path, replace(talk(), source="claude-code"), *kitchen_sink())
    with opened(browser, folder / "index.html", width=390) as it:
        assert 0 == it.tell("document.documentElement.scrollWidth - innerWidth")
        it.page.select_option("select[aria-label='All tools']", "claude-code")
        it.until(FOUND, "1 conversation")
        assert ["A talk"] == it.tell(
            "[...document.querySelectorAll('.entry a')].filter(e => e.offsetParent).map(e => e.textContent)"
        )
        assert [] == it.deeds()


def test_pictures_are_inside(browser: Browser, tmp_path: Path) -> None:
    item = Conversation(
        id="c",
        source="kitchen",
        timeline=[Message(id="1", role="user", parts=[Text(text=f"![x](data:image/png;base64,{DOT})")])],
    )
    with opened(browser, page_of(tmp_path, item, *kitchen_sink())) as it:
        assert [1, 1, 1] == it.tell("[...document.images].map(i => i.naturalWidth)")
        assert [] == it.deeds()


UNNAMED = """
[...document.querySelectorAll("button, a, img")]
  .filter(e => !(e.ariaLabel || e.alt || e.textContent.trim())).length
"""


def test_a_screen_reader_user_can_navigate_the_page(browser: Browser, tmp_path: Path) -> None:
    with opened(browser, page_of(tmp_path, talk()), width=390) as it:
        found = it.page.locator("body").aria_snapshot()

        assert 'heading "A talk" [level=1]' in found
        assert 'heading "User" [level=2]' in found
        assert 'searchbox "Search this page"' in found
        assert "- main:" in found
        assert 'navigation "Contents"' in found
        assert 0 == it.tell("document.documentElement.scrollWidth - innerWidth")
        assert 0 == it.tell(UNNAMED)
