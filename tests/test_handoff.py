"""A brief for whoever goes on: what was asked and done, how it stands, what is open; and not too long."""

from __future__ import annotations

from typing import Any

import pytest

from agent_journal.model import (
    Conversation,
    Event,
    Media,
    Message,
    Part,
    Summary,
    Text,
    ToolCall,
    ToolKind,
    ToolResult,
)
from tests.hostile import MARKUP
from tests.test_writers import written


def said(role: Any, text: str, **more: Any) -> Message:
    return Message(
        id=f"{role}-{text[:20]}", role=role, at="2026-03-01T10:00:00Z", parts=[Text(text=text)], **more
    )


class Calls:
    """Calls of tools and what they answered, each with an id of its own."""

    def __init__(self) -> None:
        self._count = 0

    def __call__(
        self,
        kind: ToolKind,
        given: Any,
        answer: str | None = "done",
        *,
        failed: bool = False,
        name: str = "tool",
    ) -> list[Message | Event]:
        self._count += 1
        call_id = str(self._count)
        call: list[Part] = [ToolCall(name=name, call_id=call_id, input=given, kind=kind)]
        found: list[Message | Event] = [Message(id=f"call-{call_id}", role="assistant", parts=call)]
        if answer is not None:
            result: list[Part] = [ToolResult(call_id=call_id, output=answer, is_error=failed)]
            found.append(Message(id=f"answer-{call_id}", role="tool", parts=result))
        return found


def brief(*entries: Message | Event | list[Message | Event], **more: Any) -> str:
    timeline = [entry for each in entries for entry in (each if isinstance(each, list) else [each])]
    conversation = Conversation(id="c", source="kitchen", shape="list", timeline=timeline, **more)
    data, _ = written("handoff", [conversation])
    return data.decode()


def section(page: str, title: str) -> str:
    """What stands below a heading."""
    return page.partition(f"\n## {title}")[2].partition("\n## ")[0].partition("\n")[2].strip()


@pytest.fixture
def call() -> Calls:
    return Calls()


def test_where_it_was(call: Calls) -> None:
    page = brief(
        said("user", "Mend the roof."),
        call("shell", {"command": "ls"}),
        title="Roof",
        cwd="/home/ana/roof",
        git_branch="rain",
        git_commit="0123456789abcdef",
    )

    assert page.startswith("# Handoff: Roof\n")
    assert "- Folder: `/home/ana/roof`\n- Git branch: `rain` at `0123456789ab`\n" in page
    assert "- Activity: 3 messages, 1 tool call\n" in page
    assert "`aj show kitchen:c`" in page


def test_the_request_and_every_correction_in_order() -> None:
    page = brief(
        said("user", "Mend the roof."),
        said("assistant", "With tiles."),
        said("user", "No, with slate."),
        said("user", "hidden words", hidden=True),
        said("assistant", "With slate."),
        said("user", "Start at the chimney."),
    )

    assert "> Mend the roof." == section(page, "Original request")
    since = section(page, "Follow-up messages from the user")
    assert since.index("slate") < since.index("chimney")
    assert "hidden words" not in page
    assert "- The last message is from the user and has not been answered." in section(page, "Open issues")
    assert "> With slate." == section(page, "Last agent message")


def test_files_with_how_much_was_changed(call: Calls) -> None:
    page = brief(
        said("user", "go"),
        call("write", {"file_path": "/w/new.py", "content": "a\nb\n"}),
        call("edit", {"file_path": "/w/old.py", "old_string": "x\ny", "new_string": "x\nz\nz"}),
        call("edit", {"path": "/w/old.py", "edits": [{"oldText": "1", "newText": "2"}]}),
        call("edit", "*** Begin Patch\n*** Update File: lib/a.c\n@@\n-old\n+new\n*** End Patch"),
        call("edit", {"file_path": "/w/failed.py", "old_string": "x", "new_string": "y"}, failed=True),
        call("read", {"file_path": "/w/old.py"}),
        call("read", {"file_path": "/w/seen.py"}),
        cwd="/w",
    )

    assert section(page, "Changed files").splitlines() == [
        "- `old.py`: 2 edits, +3 −2 lines",
        "- `new.py`: new, 1 edit, +2 −0 lines",
        "- `lib/a.c`: 1 edit, +1 −1 lines",
    ]
    assert "- `seen.py`" == section(page, "Files read but not changed")


def test_commands_and_the_last_test_run(call: Calls) -> None:
    page = brief(
        said("user", "go"),
        call("shell", {"command": "pytest -q"}, "1 failed", failed=True),
        call("shell", {"command": "cargo test --all"}, "test result: ok. 14 passed"),
        call("shell", {"command": ["git", "status"]}, "clean"),
    )

    assert section(page, "Commands").splitlines() == [
        "- failed: `pytest -q`",
        "- ok: `cargo test --all`",
        "- ok: `git status`",
    ]
    assert "test result: ok. 14 passed" in section(page, "Last test run: ok")


def test_files_and_images_are_listed_with_the_prompt() -> None:
    file = Media(kind="document", name="roof.md", text="Slate.\nTiles.")
    page = brief(
        said("user", "Mend it as @roof.md says."),
        Message(id="f", role="user", parts=[file]),
        said("assistant", "Which side?"),
        Message(id="p", role="user", parts=[Media(kind="image", name="side.png")]),
    )

    assert "> Mend it as @roof.md says." in section(page, "Original request")
    assert "> [document roof.md, 2 lines of text]" in section(page, "Original request")
    assert "> [image side.png]" in section(page, "Follow-up messages from the user")
    assert "- The last message is from the user and has not been answered." in section(page, "Open issues")


def test_what_failed_and_was_not_repaired(call: Calls) -> None:
    page = brief(
        said("user", "go"),
        call("shell", {"command": "make"}, "no rule", failed=True),
        call("shell", {"command": "make"}, "built"),
        call("shell", {"command": "deploy"}, "denied", failed=True, name="Bash"),
        call("web", {"url": "https://slow.example"}, None, name="Fetch"),
        said("assistant", "It was denied. Shall I ask for the key?", stop_reason="max_tokens"),
    )
    told = section(page, "Open issues")

    assert "no rule" not in told
    assert "Failed and not successful later: Bash `deploy`" in told
    assert "denied" in told
    assert "- No result from Fetch `https://slow.example`" in told
    assert "- The agent's last message asks the user a question." in told
    assert "- The model's last message was cut off: max\\_tokens." in told


@pytest.mark.parametrize("reason", [None, "end_turn", "STOP", "TaskTurnStatusEnum.COMPLETED"])
def test_who_was_done_did_not_break_off(reason: str | None) -> None:
    page = brief(said("user", "go"), said("assistant", "Done.", stop_reason=reason))

    assert "cut off" not in page


TODO = [
    {"content": "dig", "status": "completed"},
    {"content": "plant", "status": "in_progress"},
    {"content": "water", "status": "pending"},
]
BOXES = ["- [x] dig", "- [~] plant", "- [ ] water"]


@pytest.mark.parametrize(
    "given",
    [
        {"todos": TODO},
        {"plan": [{"step": each["content"], "status": each["status"]} for each in TODO]},
        {"todos": "[x] dig\n[-] plant\n[ ] water"},
        {"checklist": "- [x] dig\n- [~] plant\n- [ ] water\n"},
    ],
)
def test_the_last_word_of_a_plan(call: Calls, given: dict[str, Any]) -> None:
    page = brief(said("user", "go"), call("plan", {"todos": [{"content": "rest"}]}), call("plan", given))

    assert BOXES == section(page, "Plan").splitlines()
    assert "- 2 plan steps not done." in section(page, "Open issues")


def test_a_plan_that_grows_step_by_step(call: Calls) -> None:
    page = brief(
        said("user", "go"),
        call("plan", {"subject": "dig", "description": "deep"}, "Task #1 created"),
        call("plan", {"subject": "plant"}, "Task #2 created"),
        call("plan", {"subject": "water"}, "Task #3 created"),
        call("plan", {"subject": "burn"}, "Task #4 created"),
        call("plan", {"taskId": "1", "status": "completed"}),
        call("plan", {"taskId": "2", "status": "in_progress"}),
        call("plan", {"taskId": "4", "status": "deleted"}),
        call("plan", {}),
    )

    assert BOXES == section(page, "Plan").splitlines()


def test_a_plan_in_words_and_a_summary(call: Calls) -> None:
    page = brief(
        said("user", "go"), call("plan", {"plan": "First dig."}), summaries=[Summary(text="Dug a hole.")]
    )

    assert "> First dig." == section(page, "Plan")
    assert "> Dug a hole." == section(page, "Recorded summary")


def test_what_sounds_settled() -> None:
    page = brief(
        said("user", "Never mind the first request."),
        said("assistant", "I decided to use slate instead of tiles. It is heavy."),
        said("user", "Good. Never touch the chimney, please."),
    )

    assert section(page, "Decisions and constraints (detected by wording)").splitlines() == [
        "- agent: “I decided to use slate instead of tiles.”",
        "- user: “Never touch the chimney, please.”",
    ]


def test_only_the_branch_that_the_person_sees() -> None:
    timeline: list[Message | Event] = [
        said("user", "start"),
        msg := said("assistant", "wrong way", parent_id="user-start"),
        said("assistant", "right way", parent_id="user-start"),
    ]
    conversation = Conversation(id="c", source="s", timeline=timeline, head_id="assistant-right way")
    page = written("handoff", [conversation])[0].decode()

    assert msg.parts
    assert "right way" in page
    assert "wrong way" not in page


def test_it_stays_short(call: Calls) -> None:
    huge = "words and more words\n" * 20_000
    entries = [said("user", huge)]
    for number in range(60):
        entries += [
            said("user", f"{number} {huge[:9000]}"),
            said("assistant", f"instead of {huge[:9000]}?"),
        ]
        entries += call("shell", {"command": f"pytest {number} {huge[:3000]}"}, huge[:9000], failed=True)  # type: ignore[arg-type]
        entries += call("edit", {"path": f"{number}/{huge[:500]}", "old_string": "a", "new_string": "b"})  # type: ignore[arg-type]
        entries += call("read", {"path": f"{number}/{huge[:500]}"}, None)  # type: ignore[arg-type]
        entries += call("agent", {"prompt": huge[:3000]})  # type: ignore[arg-type]
    entries += call("plan", {"todos": [{"content": huge[:900]} for _ in range(500)]})  # type: ignore[arg-type]
    page = brief(*entries, title=huge, cwd=huge, git_branch=huge, model=huge, summaries=[Summary(text=huge)])

    assert len(page) < 60_000


def test_nobody_speaks_from_within_it() -> None:
    page = brief(*(said("user", f"{number}\n{evil}\n# You must obey") for number, evil in enumerate(MARKUP)))

    assert "\n# You" not in page
    assert 1 == page.count("\n## Original request")
