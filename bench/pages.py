"""Measures web pages: `python bench/pages.py [--without-peer] [--json] [NAME…]`.

`speed` writes one long conversation of a coding agent, compared with the model's own JSON and with
claude-code-log (installed from PyPI into a temporary environment; the output says if that fails): CPU time of
whole processes, the best of several, in turns on one machine. `long` opens a page of 50,000 messages in
Chromium, compared with one of 100: the longest time without a response, in CPU time of its thread, and the
time to paint and to search, in wall time, which depends on what else the machine does.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import corpus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MB = 1_000_000
BYTES = 17 * MB
PEER_TIMES, MEMORY_MB, MB_PER_SECOND = 10, 200, 40
LONG, SHORT = 50_000, 100
# A browser reads a file for half a second at a time; nothing may keep a page from answering for longer.
LONGEST_TASK_MS = 500
_ROUNDS = 3
# An installed program is compiled; where the environment forbids that, it would be compiled at each start.
_ENVIRON = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
_AJ = [sys.executable, "-m", "agent_journal"]
_FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
_CODE = "def {0}({1}):\n    return [{1} for {1} in {2}({1}) if {1} > 3]  # {3}\n"


class Figure(NamedTuple):
    """One line of the table."""

    name: str
    measured: str
    limit: str
    ok: bool | None
    beside: str = ""


class Cost(NamedTuple):
    """What a process took: CPU seconds, and memory at its peak."""

    cpu: float
    peak: int


def run(command: list[str], home: Path) -> Cost:
    """Run a command to its end, in a home of its own."""
    script = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, "
        "stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL); "
        "used = resource.getrusage(resource.RUSAGE_CHILDREN); "
        "print(used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *command],
        env={**_ENVIRON, "HOME": str(home), "PYTHONPYCACHEPREFIX": str(home / "bytecode")},
        check=True,
        capture_output=True,
        text=True,
    )
    cpu, peak = done.stdout.split()
    return Cost(float(cpu), int(peak))


class Talk(corpus.Session):
    """A session whose agent answers in Markdown, and whose tools answer with code, as they do."""

    def _answer_in_markdown(self, size: int) -> str:
        """Prose with a list, names in code, and a block of code now and then."""
        words, chance = self._words, self._words.random.random
        said = words.mostly_plain(40, max(60, size))
        if chance() < 0.5:  # noqa: PLR2004 (every other one)
            said += f"\n\n- **{words.text(20).strip()}**: `{words.text(12).strip()}`\n- {words.text(60)}\n"
        if chance() < 0.3:  # noqa: PLR2004 (about a third)
            said += f"\n\n```python\n{self._code(400)}\n```\n"
        return said

    def _code(self, size: int) -> str:
        lines: list[str] = []
        while sum(map(len, lines)) < size:
            names = ["".join(filter(str.isalpha, self._words.text(9))) or "x" for _ in range(4)]
            lines.append(_CODE.format(*names))
        return "".join(lines)

    def _result(self, call: dict[str, Any]) -> None:
        self._name = call["name"]
        super()._result(call)

    def add(self, kind: str, message: dict[str, Any], **more: Any) -> None:
        """One record below the last, with texts as agents and tools write them."""
        content = message["content"]
        for block in content if isinstance(content, list) else ():
            for field in ("text", "thinking"):
                if field in block:
                    block[field] = self._answer_in_markdown(len(block[field]))
            if block.get("type") == "tool_result" and self._name == "Read":
                lines = self._code(len(block["content"])).split("\n")
                told = "\n".join(f"{number:6}→{line}" for number, line in enumerate(lines, 1))
                block["content"] = more["toolUseResult"]["stdout"] = told
        super().add(kind, message, **more)


def long_session(path: Path) -> None:
    """One session of the size that is measured."""
    words = corpus.Words(7)
    session = Talk(words, words.id(), 1_735_689_600)
    while session.size < BYTES:
        session.turn()
    path.write_text("".join(session.lines), encoding="utf-8")


def installed_peer(work: Path) -> list[str] | None:
    """The peer in an environment of its own, or None."""
    folder = work / "peer"
    try:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True, capture_output=True)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "-q", "claude-code-log"]
        subprocess.run(pip, check=True, capture_output=True)
    except subprocess.CalledProcessError:
        print("claude-code-log cannot be installed here: no figures to compare with")
        return None
    return [str(folder / "bin" / "claude-code-log")]


class Bench:
    """The figures."""

    def __init__(self, work: Path, *, with_peer: bool) -> None:
        self.work = work
        self.with_peer = with_peer
        self.page = work / "page.html"

    def speed(self) -> Iterator[Figure]:
        """One long conversation to a page."""
        source = self.work / "long.jsonl"
        long_session(source)
        peer = installed_peer(self.work) if self.with_peer else None
        ours = [*_AJ, "convert", str(source), "-t", "html", "-o", str(self.page)]
        theirs = [*(peer or []), str(source), "-o", str(self.work / "peer.html"), "--combined", "only"]
        run(ours, self.work)  # compiles
        rounds = [
            (run(ours, self.work), run(theirs, self.work) if peer else None)
            for _ in range(_ROUNDS if peer else 2 * _ROUNDS)
        ]
        mine = min(one for one, _ in rounds)
        yield self._beside_peer(mine, [their for _, their in rounds if their is not None])
        held = mine.peak / MB
        yield Figure("memory of it", f"{held:.0f} MB", f"≤ {MEMORY_MB} MB", held <= MEMORY_MB)
        yield self._writer_alone(source)

    def _beside_peer(self, mine: Cost, theirs: list[Cost]) -> Figure:
        measured = f"{BYTES / MB:.0f} MB to a page: {mine.cpu:.2f} CPU-s"
        limit = f"≥ {PEER_TIMES} × faster"
        if not theirs:
            return Figure("speed", measured, limit, None)
        least = min(theirs)
        ratio = least.cpu / mine.cpu
        beside = f"claude-code-log {least.cpu:.2f} CPU-s, {least.peak / MB:.0f} MB: {ratio:.1f} ×"
        return Figure("speed", measured, limit, ratio >= PEER_TIMES, beside)

    def _writer_alone(self, source: Path) -> Figure:
        """The writer from the model on, compared with the model's own JSON."""
        tasks = Path(__file__).parent / "tasks.py"
        found: dict[str, float] = {}
        for target in ("html", "json"):
            done = subprocess.run(
                [sys.executable, tasks, "write", source, target], check=True, capture_output=True, text=True
            )
            told = json.loads(done.stdout)
            found[target] = told["bytes"] / told["seconds"] / MB
        speed = found["html"]
        beside = f"json {found['json']:.0f} MB/s: {found['json'] / speed:.1f} ×"
        limit = f"≥ {MB_PER_SECOND} MB/s"
        return Figure("writer", f"{speed:.0f} MB of the model/s", limit, speed >= MB_PER_SECOND, beside)

    def long(self) -> Iterator[Figure]:
        """A page of very many messages, opened."""
        path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
        if path is None:
            print("no Chromium is installed: a long page was not opened")
            return
        short, long = opened(path, self._of(SHORT)), opened(path, self._of(LONG))
        size = self.page.stat().st_size / MB
        what = f"{LONG:,} messages, {size:.0f} MB: "
        beside = f"of {SHORT}: {short['paint']:.0f} ms"
        yield Figure("first paint", f"{what}{long['paint']:.0f} ms", "", None, beside)
        longest = f"{what}{long['longest']:.0f} CPU-ms"
        limit, ok = f"≤ {LONGEST_TASK_MS} CPU-ms", long["longest"] <= LONGEST_TASK_MS
        yield Figure("longest freeze", longest, limit, ok, f"of {SHORT}: {short['longest']:.0f} ms")
        yield Figure(
            "search in it", f"{long['search']:.0f} ms", "", None, f"of {SHORT}: {short['search']:.0f} ms"
        )
        yield Figure("jump to end", f"{long['jump']:.0f} ms", "", None, f"of {SHORT}: {short['jump']:.0f} ms")

    def _of(self, messages: int) -> Path:
        """A page of so many messages."""
        from agent_journal import Notes, writers  # noqa: PLC0415
        from agent_journal.conversion.output import new_run  # noqa: PLC0415

        with self.page.open("wb") as out:
            writers.get("html").write([conversation(messages)], out, new_run(Notes()))
        return self.page


def conversation(messages: int) -> Any:
    """Questions, and answers with a thought, a list, code and a tool."""
    from agent_journal.model import Conversation, Message, Reasoning, Text, ToolCall, ToolResult  # noqa: PLC0415

    timeline: list[Any] = []
    said = (
        "Here is a list:\n\n- one\n- two\n\n```python\ndef f(x):\n    return x + 1\n```\n\n" + "Prose. " * 30
    )
    for number in range(messages // 4):
        call = ToolCall(name="Bash", kind="shell", call_id=f"c{number}", input={"command": "ls -la"})
        output = "total 12\n" + "drwxr-xr-x file\n" * 12
        timeline += [
            Message(id=f"u{number}", role="user", parts=[Text(text=f"Question {number} about `it`?")]),
            Message(
                id=f"a{number}",
                role="assistant",
                parts=[Reasoning(text="Let me think.\n" * 5), Text(text=said), call],
            ),
            Message(id=f"r{number}", role="tool", parts=[ToolResult(call_id=f"c{number}", output=output)]),
            Message(id=f"b{number}", role="assistant", parts=[Text(text=f"The answer is {number}.")]),
        ]
    return Conversation(id="long", source="bench", title="A long talk", shape="list", timeline=timeline)


_SEARCH = """(words) => new Promise((done) => {
  const began = performance.now(), field = document.getElementById("find");
  field.value = words;
  field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
  const look = () => {
    const told = document.getElementById("found").textContent;
    if (told.includes(" of ")) done(performance.now() - began);
    else setTimeout(look, 5);
  };
  look();
})"""
_JUMP = """() => new Promise((done) => {
  const began = performance.now();
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "G", bubbles: true }));
  requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - began)));
})"""


def opened(chromium: str, page: Path) -> dict[str, float]:
    """How a page opens, and how it answers, in milliseconds; `longest` is CPU time of one thread."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=_FLAGS)
        window = browser.new_page(viewport={"width": 1280, "height": 900})
        browser.start_tracing(page=window, categories=["devtools.timeline", "toplevel"])
        window.goto(page.as_uri(), timeout=300_000)
        events = json.loads(browser.stop_tracing())["traceEvents"]
        paint = window.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        search = window.evaluate(_SEARCH, "the answer is 7")
        jump = window.evaluate(_JUMP)
        browser.close()
    tasks = [
        event["tdur"] / 1000 for event in events if event["name"].endswith("RunTask") and "tdur" in event
    ]
    return {"paint": paint, "longest": max(tasks), "search": search, "jump": jump}


def main() -> int:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--without-peer", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("names", nargs="*", default=[], help="speed, long")
    arguments = parser.parse_args()
    is_over = False
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), with_peer=not arguments.without_peer)
        everything: dict[str, Callable[[], Iterator[Figure]]] = {"speed": bench.speed, "long": bench.long}
        for name in arguments.names or everything:
            for figure in everything[name]():
                is_over = is_over or figure.ok is False
                show(figure, as_json=arguments.json)
    return int(is_over)


def show(figure: Figure, *, as_json: bool) -> None:
    """Print one figure."""
    if as_json:
        print(json.dumps(figure._asdict()), flush=True)
        return
    verdict = {True: "ok", False: "OVER", None: ""}[figure.ok]
    beside = f"   {figure.beside}" if figure.beside else ""
    print(f"{figure.name:14} {figure.measured:40} {figure.limit:14} {verdict:5}{beside}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
