"""Which lines of which files a model wrote: what agent records tell of edits, and what they do not claim."""

from __future__ import annotations

from typing import Any

import pytest

from agent_journal.model import Conversation, Event, Message, ToolCall, ToolResult
from tests import cddl
from tests.inline import written

CWD = "/home/ana/tea"
DIFF = """\
--- a/pot.py
+++ b/pot.py
@@ -1,4 +1,5 @@
 import water
-heat = 80
+heat = 100
+lid = True
 boil()
 pour()
@@ -20,2 +21,3 @@
 def serve():
+    cool()
     return cup
"""
RANGES = [{"start-line": 2, "end-line": 3}, {"start-line": 22, "end-line": 22}]


def edit(number: int, path: str = "pot.py", **values: Any) -> list[Message | Event]:
    """An edit and its result: `diff` is what the tool says of it; `content` is a whole file."""
    call_id = f"call-{number}"
    asked = {"file_path": path} | ({"content": values["content"]} if "content" in values else {})
    call = ToolCall(
        name="Edit", call_id=call_id, input=asked, kind="write" if "content" in values else "edit"
    )
    about: dict[str, Any] = {name: values[name] for name in ("diff", "structuredPatch") if name in values}
    result = ToolResult(call_id=call_id, output="done", is_error=values.get("is_error", False), extra=about)
    model = values.get("model", "kettle-1")
    return [
        Message(id=f"a{number}", role="assistant", model=model, parts=[call]),
        Message(id=f"r{number}", role="tool", parts=[result]),
    ]


def files_of(*edits: list[Message | Event], cwd: str | None = CWD) -> Any:
    timeline = [entry for each in edits for entry in each]
    item = Conversation(id="c", source="made-up", cwd=cwd, timeline=timeline)
    record = written("agent-record-v3", item).only

    assert [] == cddl.check(record)
    return record.get("file-attribution", {}).get("files")


def ranges_of(*edits: list[Message | Event]) -> list[tuple[int, int]]:
    (file,) = files_of(*edits)
    (conversation,) = file["conversations"]
    return [(one["start-line"], one["end-line"]) for one in conversation["ranges"]]


def test_a_unified_diff() -> None:
    assert [
        {
            "path": "pot.py",
            "conversations": [{"contributor": {"type": "ai", "model-id": "kettle-1"}, "ranges": RANGES}],
        }
    ] == files_of(edit(1, diff=DIFF))


def test_hunks_of_a_list() -> None:
    hunks = [
        {"oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 3, "lines": [" a", "+b", " c"]},
        {"oldStart": 9, "oldLines": 1, "newStart": 10, "newLines": 2},
    ]

    assert [(2, 2), (10, 11)] == ranges_of(edit(1, structuredPatch=hunks))


@pytest.mark.parametrize(
    "diff", ["", "Binary files differ", "--- a/pot.py\n+++ b/pot.py\n", "@@ broken @@", "\n"]
)
def test_a_diff_without_a_hunk_has_no_lines(diff: str) -> None:
    assert files_of(edit(1, diff=diff)) is None
    assert files_of(edit(1, diff=DIFF), edit(2, diff=diff)) is None, "where they moved to is not known"


def test_a_hunk_that_only_takes_away() -> None:
    assert files_of(edit(1, diff="@@ -3,2 +2,0 @@\n-a\n-b\n")) is None
    assert [(20, 20)] == ranges_of(edit(1, diff=DIFF), edit(2, diff="@@ -2,2 +1,0 @@\n-a\n-b\n"))


def test_what_follows_a_hunk_is_not_part_of_it() -> None:
    assert [(1, 1)] == ranges_of(
        edit(1, diff="@@ -0,0 +1,1 @@\n+a\n\\ No newline at end of file\n+++ more\n")
    )


def test_a_whole_file() -> None:
    assert [(1, 3)] == ranges_of(edit(1, content="a\nb\nc"))
    assert [(1, 2)] == ranges_of(edit(1, diff=DIFF), edit(2, content="a\nb\n"))
    assert files_of(edit(1, content="")) is None


def test_later_edits_move_earlier_lines() -> None:
    assert [(1, 1), (3, 4), (23, 23)] == ranges_of(edit(1, diff=DIFF), edit(2, diff="@@ -0,0 +1,1 @@\n+x\n"))


def test_lines_that_others_wrote_over_are_theirs() -> None:
    (file,) = files_of(
        edit(1, content="a\nb\nc\n"), edit(2, diff="@@ -2,1 +2,1 @@\n-b\n+B\n", model="kettle-2")
    )

    assert [
        {
            "contributor": {"type": "ai", "model-id": "kettle-1"},
            "ranges": [{"start-line": 1, "end-line": 1}, {"start-line": 3, "end-line": 3}],
        },
        {
            "contributor": {"type": "ai", "model-id": "kettle-2"},
            "ranges": [{"start-line": 2, "end-line": 2}],
        },
    ] == file["conversations"]


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("pot.py", "pot.py"),
        ("./lib/../pot.py", "pot.py"),
        (f"{CWD}/lib/pot.py", "lib/pot.py"),
        ("/etc/pot.py", None),
        ("../pot.py", None),
        ("~/pot.py", None),
        ("C:\\tea\\pot.py", None),
        (CWD, None),
        ("", None),
    ],
)
def test_paths_are_below_the_working_folder(path: str, place: str | None) -> None:
    files = files_of(edit(1, path=path, diff=DIFF))

    assert ([place] if place else None) == (files and [file["path"] for file in files])


def test_paths_of_windows() -> None:
    (file,) = files_of(edit(1, path="C:\\tea\\lib\\pot.py", diff=DIFF), cwd="C:\\tea")

    assert "lib/pot.py" == file["path"]


def test_edits_that_failed_or_were_not_answered_change_nothing() -> None:
    assert files_of(edit(1, diff=DIFF, is_error=True)) is None
    assert files_of(edit(1, diff=DIFF)[:1]) is None


def test_without_a_model_it_was_some_model() -> None:
    (file,) = files_of(edit(1, diff=DIFF, model=None))

    assert {"type": "ai"} == file["conversations"][0]["contributor"]


def test_the_plain_profile_reports_none() -> None:
    item = Conversation(id="c", source="made-up", cwd=CWD, git_branch="main", timeline=edit(1, diff=DIFF))
    record = written("agent-record", item).only

    assert not {"file-attribution", "vcs"} & record.keys()
