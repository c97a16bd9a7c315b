"""Who changed a file, in a journal of several tools and a repository with commits."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from agent_journal.blame.answer import Blame
from tests.journal.conversations import (
    call,
    conversation,
    import_into,
    journal_of,
    message,
    open_home,
    result,
    text,
)

GIT = {
    **dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"), "Ana"),
    **dict.fromkeys(("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), "ana@example.org"),
    "GIT_CONFIG_GLOBAL": os.devnull,
    "PATH": os.environ["PATH"],
}
PATCH = """*** Begin Patch
*** Update File: stew.py
@@
 def boil():
-    return "water"
+    return "hot water"
*** End Patch"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "kitchen"
    folder.mkdir()
    return folder


def edit(path: str, old: str, new: str, call_id: str = "e1") -> dict[str, Any]:
    return call(call_id, "Edit", "edit", {"file_path": path, "old_string": old, "new_string": new})


def kitchen(project: Path) -> list[dict[str, Any]]:
    """Three tools write, patch, move and edit a file."""
    written = {
        "file_path": f"{project}/stew.py",
        "content": 'def boil():\n    return "water"\n\n\ndef eat():\n    pass\n',
    }
    return [
        conversation(
            "first",
            message("p1", "user", "2026-03-01T10:00:00Z", text("Write a stew.")),
            message("m1", "assistant", "2026-03-01T10:01:00Z", call("w1", "Write", "write", written)),
            message("r1", "user", "2026-03-01T10:01:01Z", result("w1", "ok")),
            source="claude-code",
            cwd=str(project),
            title="Cook",
        ),
        conversation(
            "second",
            message("p2", "user", "2026-03-02T10:00:00Z", text("Make it hot.")),
            message("m2", "assistant", "2026-03-02T10:01:00Z", call("a1", "apply_patch", "edit", PATCH)),
            message(
                "m3",
                "assistant",
                "2026-03-02T10:02:00Z",
                call("s1", "shell", "shell", {"command": ["mv", "stew.py", "soup.py"]}),
            ),
            source="codex",
            cwd=str(project),
        ),
        conversation(
            "third",
            message("p3", "user", "2026-03-03T10:00:00Z", text("Really eat it.")),
            message(
                "m4",
                "assistant",
                "2026-03-03T10:01:00Z",
                edit("soup.py", "    pass", "    swallow()\n    smile()", "e4"),
            ),
            message("m5", "assistant", "2026-03-03T10:02:00Z", edit("soup.py", "nothing", "a failure", "e5")),
            message("r5", "user", "2026-03-03T10:02:01Z", result("e5", "not there", is_error=True)),
            source="gemini-cli",
            cwd=str(project),
            model="gemini-9",
        ),
    ]


SOUP = 'def boil():\n    return "hot water"\n\n\ndef eat():\n    swallow()\n    smile()\n'


def messages(blame: Blame) -> list[str]:
    return [each.message for each in blame.edits]


def test_edits_of_all_tools_newest_first_also_before_a_move(project: Path, tmp_path: Path) -> None:
    (project / "soup.py").write_text(SOUP)
    with journal_of(tmp_path, *kitchen(project)) as journal:
        blame = journal.blame("soup.py", folder=str(project))

    assert ["m4", "m2", "m1"] == messages(blame)  # not m5, which failed
    assert ["Really eat it.", "Make it hot.", "Write a stew."] == [each.prompt for each in blame.edits]
    assert [[(6, 7)], [(2, 2)], [(1, 1), (3, 5)]] == [each.lines for each in blame.edits]
    assert ["gemini-cli", "codex", "claude-code"] == [each.source for each in blame.edits]
    assert [f"{project}/stew.py"] == [each.old for each in blame.renames]
    assert (3, [], "unavailable") == (blame.total, blame.unknown, blame.git)


def test_only_the_edits_that_lines_come_from(project: Path, tmp_path: Path) -> None:
    (project / "soup.py").write_text(SOUP)
    with journal_of(tmp_path, *kitchen(project)) as journal:
        assert ["m2"] == messages(journal.blame(f"{project}/soup.py", (2, 2)))
        assert ["m4", "m1"] == messages(journal.blame(f"{project}/soup.py", (4, 7)))
        assert ["m2"] == messages(journal.blame(f"{project}/soup.py", text="hot"))
        assert [] == messages(journal.blame(f"{project}/soup.py", text="cold"))


def test_the_prompt_of_a_line_that_a_person_wrote_is_not_invented(project: Path, tmp_path: Path) -> None:
    (project / "soup.py").write_text(f"# by hand\n{SOUP}")
    with journal_of(tmp_path, *kitchen(project)) as journal:
        blame = journal.blame(f"{project}/soup.py", (1, 1))

    assert ([], [(1, 1)]) == (blame.edits, blame.unknown)


def test_an_edit_under_the_old_name_after_the_move_is_of_another_file(project: Path, tmp_path: Path) -> None:
    later = conversation(
        "later",
        message("m9", "assistant", "2026-04-01T10:00:00Z", edit("stew.py", "x", "y")),
        cwd=str(project),
    )
    (project / "soup.py").write_text(SOUP)
    with journal_of(tmp_path, *kitchen(project), later) as journal:
        assert "m9" not in messages(journal.blame("soup.py", folder=str(project)))
        assert "m9" in messages(journal.blame("stew.py", folder=str(project)))


def test_files_that_move_in_a_circle(project: Path, tmp_path: Path) -> None:
    moves = [
        message(
            f"m{n}",
            "assistant",
            f"2026-03-01T10:0{n}:00Z",
            call(f"s{n}", "sh", "shell", {"command": f"mv {old} {new}"}),
        )
        for n, (old, new) in enumerate([("a.py", "b.py"), ("b.py", "a.py"), ("a.py", "b.py")])
    ]
    with journal_of(tmp_path, conversation("c", *moves, cwd=str(project))) as journal:
        assert 0 == journal.blame("b.py", folder=str(project)).total


def git(project: Path, *arguments: str, at: str = "2026-03-01T12:00:00Z") -> str:
    dates = {"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at}
    done = subprocess.run(
        ("git", *arguments),  # noqa: S607
        cwd=project,
        env={**GIT, **dates},
        check=True,
        capture_output=True,
    )
    return done.stdout.decode()


def test_commits_that_carry_the_lines(project: Path, tmp_path: Path) -> None:
    git(project, "init", "-q")
    (project / "soup.py").write_text('def boil():\n    return "water"\n\n\ndef eat():\n    pass\n')
    git(project, "add", ".")
    git(project, "commit", "-qm", "Begin")
    (project / "soup.py").write_text(SOUP)
    with journal_of(tmp_path, *kitchen(project)) as journal:
        before = journal.blame("soup.py", folder=str(project))
        git(project, "commit", "-qam", "Hot", at="2026-03-04T00:00:00Z")
        after = journal.blame("soup.py", folder=str(project))

    assert ("checked", "checked") == (before.git, after.git)
    assert [[], [], ["Begin"]] == [[commit.summary for commit in each.commits] for each in before.edits]
    assert [["Hot"], ["Hot"], ["Begin"]] == [
        [commit.summary for commit in each.commits] for each in after.edits
    ]
    assert after.edits[0].commits[0].id == git(project, "rev-parse", "HEAD").strip()


def test_a_line_that_was_committed_before_the_edit_is_not_from_the_edit(
    project: Path, tmp_path: Path
) -> None:
    git(project, "init", "-q")
    (project / "soup.py").write_text(SOUP)
    git(project, "add", ".")
    git(project, "commit", "-qm", "All by hand", at="2026-02-01T00:00:00Z")
    with journal_of(tmp_path, *kitchen(project)) as journal:
        blame = journal.blame("soup.py", folder=str(project))

    assert [[], [], []] == [each.lines for each in blame.edits]
    assert [(1, 7)] == blame.unknown


@pytest.mark.parametrize("content", [b"", b"\0\1", b"\xff\xfe\n", b"x" * 100_000])
def test_files_that_are_no_text(content: bytes, project: Path, tmp_path: Path) -> None:
    (project / "soup.py").write_bytes(content)
    with journal_of(tmp_path, *kitchen(project)) as journal:
        assert 3 == journal.blame("soup.py", folder=str(project)).total


@pytest.mark.parametrize(
    "path", ["", "/", ".", "a" * 10_000, "no\0body", "\ud800", "../../..", "soup.py/", "*"]
)
def test_paths_that_are_no_file(path: str, project: Path, tmp_path: Path) -> None:
    with journal_of(tmp_path, *kitchen(project)) as journal:
        assert 0 <= journal.blame(path, folder=str(project)).total <= 3


def test_a_link_and_a_folder_are_not_read(project: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("    smile()\n")
    (project / "soup.py").symlink_to(tmp_path / "secret")
    (project / "stew.py").mkdir()
    with journal_of(tmp_path, *kitchen(project)) as journal:
        for name in ("soup.py", "stew.py"):
            assert journal.blame(name, folder=str(project)).line_count is None


def test_messages_that_the_index_lacks(project: Path, tmp_path: Path) -> None:
    first, *others = kitchen(project)
    import_into(tmp_path / "journal", first)
    shutil.copytree(tmp_path / "journal" / "index", tmp_path / "behind")
    import_into(tmp_path / "journal", *others)
    shutil.rmtree(tmp_path / "journal" / "index")
    shutil.copytree(tmp_path / "behind", tmp_path / "journal" / "index")
    with open_home(tmp_path / "journal") as journal:
        assert ["m4", "m2", "m1"] == messages(journal.blame("soup.py"))
    shutil.rmtree(tmp_path / "journal" / "index")
    with open_home(tmp_path / "journal") as journal:
        assert ["m4", "m2", "m1"] == messages(journal.blame("soup.py"))


def test_only_conversations_that_are_allowed(project: Path, tmp_path: Path) -> None:
    with journal_of(tmp_path, *kitchen(project)) as journal:
        blame = journal.blame("soup.py", is_allowed=lambda listed: listed.source != "codex")

    assert ["m4"] == messages(blame)  # the move is in a conversation that is not allowed
    assert [] == blame.renames
