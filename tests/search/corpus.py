"""The corpus of the judged queries: hand-written conversations with their queries, among many others.

`material/*.md` holds both. A conversation begins with `# name | project | day`; its messages begin with `U:`,
`A:` (assistant) or `T:` (output of a tool). `? class [2=2 1=1]: text` is a query: message 2 answers it, and
message 1 is about the same. `distractors.md` has conversations with gaps, which every run fills alike.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent
MATERIAL = FOLDER / "material"
JUDGED = FOLDER / "judged.jsonl"
CLASSES = ("identifier", "error", "question", "paraphrase", "typo", "cjk", "language", "path")
DISTRACTORS = 760  # conversations

_ROLES = {"U": "user", "A": "assistant", "T": "tool"}
_QUERY = re.compile(r"\? (\w+) \[([^\]]+)\]: (.+)")
_FAILED = re.compile(
    r"error|exception|fail|fatal|denied|killed|fault|not found|too large|Warning:|ERR!|413", re.IGNORECASE
)
_GAP = re.compile(r"\{(\w+)\}")


class Said(NamedTuple):
    role: str
    text: str


class Talk(NamedTuple):
    name: str
    project: str
    day: str
    messages: list[Said]


class Judged(NamedTuple):
    """A query, and how well messages answer it: 2 if they do, 1 if they are about the same."""

    id: str
    kind: str
    query: str
    relevant: dict[str, int]
    half: str  # tune or report


def written() -> tuple[list[Talk], list[Judged]]:
    """The hand-written conversations and their queries."""
    talks: list[Talk] = []
    judged: list[Judged] = []
    for path in sorted(MATERIAL.glob("*.md")):
        if path.name != "distractors.md":
            for block in re.split(r"^# ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
                talk, queries = _talk(block)
                talks.append(talk)
                judged += queries
    return talks, halved(judged)


def _talk(block: str) -> tuple[Talk, list[Judged]]:
    head, *lines = block.rstrip("\n").split("\n")
    name, *project, day = (part.strip() for part in head.split("|"))
    messages: list[Said] = []
    queries: list[Judged] = []
    for line in lines:
        query = _QUERY.fullmatch(line)
        if query is not None:
            kind, grades, text = query.groups()
            relevant = {f"{name}/{place}": int(grade) for place, grade in _grades(grades)}
            queries.append(Judged(f"{name}-{len(queries) + 1}", kind, text, relevant, ""))
        elif line[:2] in {"U:", "A:", "T:"}:
            messages.append(Said(_ROLES[line[0]], line[2:].strip()))
        elif line:
            messages[-1] = messages[-1]._replace(text=f"{messages[-1].text}\n{line}")
    return Talk(name, project[0] if project else "", day, messages), queries


def _grades(text: str) -> Iterator[tuple[str, str]]:
    for each in text.split():
        place, _, grade = each.partition("=")
        yield place, grade


def halved(judged: list[Judged]) -> list[Judged]:
    """Within each class every second query is for tuning, the others are reported on."""
    seen: dict[str, int] = {}
    result = []
    for each in judged:
        count = seen[each.kind] = seen.get(each.kind, 0) + 1
        result.append(each._replace(half="tune" if count % 2 else "report"))
    return result


def distractors(count: int = DISTRACTORS) -> list[Talk]:
    """Conversations about other things, made of templates; the same in every run."""
    gaps, templates = _templates()
    chance = random.Random(20261116)  # noqa: S311
    talks: list[Talk] = []
    seen: set[str] = set()
    while len(talks) < count:
        kind, messages = templates[len(talks) % len(templates)]
        values = {name: chance.choice(choices) for name, choices in gaps.items()}
        filled = [Said(each.role, _filled(each.text, values)) for each in messages]
        if filled[-1].text in seen and chance.random() < 0.9:
            continue
        seen.add(filled[-1].text)
        project = f"~/work/{values['module']}" if kind == "dev" else ""
        day = f"2026-{chance.randint(1, 5):02}-{chance.randint(1, 28):02}"
        talks.append(Talk(f"other-{len(talks) + 1:04}", project, day, filled))
    return talks


def _templates() -> tuple[dict[str, list[str]], list[tuple[str, list[Said]]]]:
    gaps: dict[str, list[str]] = {}
    templates: list[tuple[str, list[Said]]] = []
    for line in (MATERIAL / "distractors.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("= "):
            name, _, values = line[2:].partition(": ")
            gaps[name] = values.split(", ")
        elif line.startswith("* "):
            templates.append((line[2:], []))
        elif line[:2] in {"U:", "A:", "T:"}:
            templates[-1][1].append(Said(_ROLES[line[0]], line[2:].strip()))
        elif line:
            messages = templates[-1][1]
            messages[-1] = messages[-1]._replace(text=f"{messages[-1].text}\n{line}")
    return gaps, templates


def _filled(text: str, values: dict[str, str]) -> str:
    return _GAP.sub(lambda gap: values[gap[1]], text)


def talks() -> list[Talk]:
    """Every conversation."""
    return [*written()[0], *distractors()]


def as_history(talk: Talk) -> str:
    """A conversation in the project's own format."""
    timeline = []
    for place, said in enumerate(talk.messages, 1):
        at = f"{talk.day}T10:{place:02}:00Z"
        parts = (
            [
                {
                    "type": "tool_result",
                    "call_id": f"c{place}",
                    "output": said.text,
                    "is_error": _FAILED.search(said.text) is not None,
                }
            ]
            if said.role == "tool"
            else [{"type": "text", "text": said.text}]
        )
        timeline.append(
            {"type": "message", "id": f"{talk.name}/{place}", "role": said.role, "at": at, "parts": parts}
        )
    whole = {
        "type": "conversation", "id": talk.name, "source": "made-up", "shape": "list",
        "started_at": f"{talk.day}T10:00:00Z", "updated_at": f"{talk.day}T10:59:00Z",
        "timeline": timeline,
    }  # fmt: skip
    if talk.project:
        whole["cwd"] = talk.project
    return json.dumps(whole) + "\n"


def judged() -> list[Judged]:
    """The judged queries, from the file."""
    lines = JUDGED.read_text(encoding="utf-8").splitlines()
    return [Judged(**json.loads(line)) for line in lines]


def write_judged() -> None:
    """Write the file anew from the material."""
    lines = [json.dumps(each._asdict(), ensure_ascii=False) for each in written()[1]]
    JUDGED.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_judged()
