"""Workflows, hooks, templates and editor settings parse, ask for little, and name what exists."""

from __future__ import annotations

import configparser
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tools import check_files

TOP = Path(__file__).parents[1]
GITHUB = TOP / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS = sorted(path for path in (GITHUB / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")
# What the schema of issue forms allows, by the type of an element.
ATTRIBUTES = {
    "markdown": {"value"},
    "textarea": {"label", "description", "placeholder", "value", "render"},
    "input": {"label", "description", "placeholder", "value"},
    "dropdown": {"label", "description", "multiple", "options", "default"},
    "checkboxes": {"label", "description", "options"},
}


def load(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def steps(workflow: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for job in workflow["jobs"].values():
        yield from job["steps"]


def missing_files(command: str) -> list[str]:
    """Return what a command names that is not in the repository."""
    missing = []
    words = command.split()
    for word, following in zip(words, [*words[1:], ""], strict=True):
        name = word.strip("\"'")
        if word == "-m" and following.startswith(("tests.", "tools.")):
            name = following.replace(".", "/")
        elif not name.startswith((".ci/", "./", "bench/", "docs/", "tests/", "examples", "requirements")):
            continue
        if not (TOP / name).exists() and not (TOP / f"{name}.py").exists():
            missing.append(name)
    return missing


def test_there_are_workflows_for_tests_wheels_and_documentation() -> None:
    assert [path.stem for path in WORKFLOWS] == ["docs", "tests", "wheel"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_may_only_read(path: Path) -> None:
    workflow = load(path)

    assert workflow["permissions"] == {"contents": "read"}
    assert [] == [name for name, job in workflow["jobs"].items() if "permissions" in job]
    assert [] == [name for name, job in workflow["jobs"].items() if "timeout-minutes" not in job]
    assert "pull_request_target" not in workflow[True]  # YAML 1.1 reads `on` as true
    assert "secrets." not in path.read_text(encoding="utf-8")
    checkouts = [step for step in steps(workflow) if step.get("uses", "").startswith("actions/checkout@")]
    assert checkouts
    assert all(step["with"] == {"persist-credentials": False} for step in checkouts)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_to_a_commit_with_its_version(path: Path) -> None:
    used = re.findall(r"uses: (.*)", path.read_text(encoding="utf-8"))

    assert used
    assert [] == [
        line for line in used if not re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line)
    ]


def test_an_action_has_one_version_everywhere() -> None:
    used = {
        found
        for path in WORKFLOWS
        for found in re.findall(r"uses: (\S+@\S+)", path.read_text(encoding="utf-8"))
    }

    assert len(used) == len({name.partition("@")[0] for name in used})


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_what_a_workflow_runs_exists(path: Path) -> None:
    workflow = load(path)
    commands = [step["run"] for step in steps(workflow) if "run" in step]

    assert commands
    assert [] == [name for command in commands for name in missing_files(command)]
    caches = [
        step["with"]["cache-dependency-path"] for step in steps(workflow) if "cache" in step.get("with", {})
    ]
    assert [] == [name for name in caches if not (TOP / name).exists()]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_nothing_from_an_event_is_part_of_a_command(path: Path) -> None:
    assert [] == [step["run"] for step in steps(load(path)) if "${{" in step.get("run", "")]


def test_every_supported_python_is_tested() -> None:
    classifiers = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "classifiers"
    ]
    supported = {found for line in classifiers for found in re.findall(r"Python :: (\d\.\d+)$", line)}
    matrix = load(GITHUB / "workflows" / "tests.yml")["jobs"]["test"]["strategy"]["matrix"]

    assert supported <= {*matrix["python"], *(entry["python"] for entry in matrix["include"])}


def test_hooks_need_nothing_from_elsewhere() -> None:
    settings = load(TOP / ".pre-commit-config.yaml")

    assert ["local"] == [repository["repo"] for repository in settings["repos"]]
    hooks = settings["repos"][0]["hooks"]
    assert {"ruff-check", "ruff-format", "files", "changes", "docs", "mypy"} == {hook["id"] for hook in hooks}
    assert {"system"} == {hook["language"] for hook in hooks}
    assert [] == [name for hook in hooks for name in missing_files(hook["entry"])]
    for hook in hooks:
        re.compile(hook.get("files", ""))


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.name)
def test_an_issue_form_is_valid(path: Path) -> None:
    form = load(path)

    assert {"name", "description", "labels", "body"} == set(form)
    assert all(form.values())
    fields = [element for element in form["body"] if element["type"] != "markdown"]
    assert fields
    assert len(fields) == len({field["id"] for field in fields})
    assert len(fields) == len({field["attributes"]["label"] for field in fields})
    for element in form["body"]:
        assert set(element) <= {"type", "id", "attributes", "validations"}
        assert set(element["attributes"]) <= ATTRIBUTES[element["type"]]
        assert set(element.get("validations", {})) <= {"required"}
        assert re.fullmatch(r"[A-Za-z0-9_-]+", element.get("id", "none"))


def test_a_bug_report_asks_for_what_helps() -> None:
    labels = {element["id"]: element for element in load(GITHUB / "ISSUE_TEMPLATE" / "bug.yml")["body"][1:]}

    assert "aj doctor" in labels["doctor"]["attributes"]["label"]
    assert "reports/" in labels["crash"]["attributes"]["description"]


def test_the_settings_of_the_issue_page_are_valid() -> None:
    assert set(load(GITHUB / "ISSUE_TEMPLATE" / "config.yml")) <= {"blank_issues_enabled", "contact_links"}


def test_files_that_templates_name_exist() -> None:
    texts = "\n".join(path.read_text(encoding="utf-8") for path in GITHUB.rglob("*.*"))
    named = re.findall(r"\b(?:docs/[a-z-]+|[A-Z_]{6,})\.md\b", texts)

    assert {"SECURITY.md", "docs/adding-a-reader.md"} <= set(named)
    assert [] == [name for name in named if not (TOP / name).exists()]


def test_commands_for_contributors_name_what_exists() -> None:
    page = (TOP / "CONTRIBUTING.md").read_text(encoding="utf-8")
    inline = re.findall(r"`((?:\./|bash |\.ci/|[A-Z_]+=\S+ )[^`]+)`", page)
    fenced = [
        line for block in re.findall(r"```sh\n(.*?)```", page, re.DOTALL) for line in block.splitlines()
    ]
    commands = [line.partition("#")[0] for line in (*inline, *fenced)]

    assert len(commands) > 15
    assert [] == [name for command in commands for name in missing_files(command)]
    headings = ["Set up", "Run the tests", "Add a source", "Style", "Commands", "Release"]
    assert headings == [
        found for found in re.findall(r"^## (.*)$", page, re.MULTILINE) if found != "The tree"
    ]


def test_editors_and_the_formatter_agree() -> None:
    text = (TOP / ".editorconfig").read_text(encoding="utf-8")
    settings = configparser.ConfigParser()
    settings.read_string("[top]\n" + text)
    ruff = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["ruff"]

    assert settings["top"]["root"] == "true"
    assert settings["*.py"]["max_line_length"] == str(ruff["line-length"])


@pytest.mark.skipif(shutil.which("git") is None or not (TOP / ".git").exists(), reason="not a git checkout")
def test_all_files_are_as_the_hook_wants_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(TOP)

    assert check_files.main([]) == 0, capsys.readouterr().err


def test_large_files_and_ends_of_texts_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    exact = Path("tests/readers/x/case.json")
    exact.parent.mkdir(parents=True)
    for name, content in {
        "large.bin": b"\0" * (check_files.MAX_BYTES + 1),
        "none.md": b"text",
        "two.md": b"text\n\n",
        "windows.md": b"text\r\n",
        "good.md": b"text\n",
        "empty.md": b"",
        "binary.png": b"\x89PNG\0",
        str(exact): b"text",
    }.items():
        Path(name).write_bytes(content)
    names = [path.as_posix() for path in Path().rglob("*.*") if path.is_file()]

    assert check_files.main(names) == 1
    first = capsys.readouterr().err
    assert check_files.main(["--fix", *names]) == 1
    assert check_files.main(["--fix", *names]) == 1

    assert {"large.bin", "none.md", "two.md", "windows.md"} == set(
        re.findall(r"^([\w.]+):", first, re.MULTILINE)
    )
    assert [b"text\n"] * 4 == [Path(f"{name}.md").read_bytes() for name in ("none", "two", "windows", "good")]
    assert exact.read_bytes() == b"text"
    assert (
        capsys.readouterr().err.splitlines()[-1].startswith("large.bin: 524,289 bytes are more than 524,288")
    )


def test_files_are_those_that_git_knows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    monkeypatch.chdir(tmp_path)
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    Path("known.md").write_text("text", encoding="utf-8")
    Path("unknown.md").write_text("text", encoding="utf-8")
    for command in (["git", "init", "--quiet"], ["git", "add", "known.md"]):
        subprocess.run(command, check=True)

    assert check_files.main([]) == 1
    Path("known.md").write_text("text\n", encoding="utf-8")
    assert check_files.main([]) == 0
