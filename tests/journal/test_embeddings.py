"""Vectors beside the rows: made after the words, resumable, erased with what they stand for."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agent_journal import archive, config, journal
from agent_journal.archive.candidates import ImportCandidate
from agent_journal.archive.lock import Lock
from agent_journal.config import Config
from agent_journal.errors import ArchiveInUse, CannotWrite
from agent_journal.journal import Journal, embeddings, upkeep
from agent_journal.journal.embeddings import Embedder
from agent_journal.journal.watch import Watcher
from agent_journal.search import folder as index_folder
from agent_journal.search.semantic import nearest, static, vectors
from agent_journal.search.semantic.hashed import HashModel
from agent_journal.search.semantic.vectors import StoredVectors
from tests.search import tiny_onnx

MODEL = static.load()
SAID = {
    "bike": ["The brakes of my bicycle squeal.", "Oil got onto the disc; clean it with alcohol."],
    "soup": ["How do I cook lentil soup?", "Fry onions, add lentils and broth, and wait."],
    "pool": ["The service hangs after an hour.", "Connections are never given back to the pool."],
}


def history(name: str, said: list[str], day: int = 1) -> str:
    timeline: list[dict[str, Any]] = [
        {
            "type": "message",
            "id": f"{name}{place}",
            "role": "assistant" if place % 2 else "user",
            "at": f"2026-05-{day:02}T10:00:{place % 60:02}Z",
            "parts": [{"type": "text", "text": text}],
        }
        for place, text in enumerate(said)
    ]
    chat = {
        "type": "conversation", "id": name, "source": "made-up", "shape": "list", "title": f"About {name}",
        "updated_at": f"2026-05-{day:02}T11:00:00Z", "timeline": timeline,
    }  # fmt: skip
    return json.dumps(chat) + "\n"


def filled(home: Path, said: dict[str, list[str]] = SAID, **environ: str) -> Config:
    settled = config.load(home, environ)
    text = "".join(history(name, each, day) for day, (name, each) in enumerate(said.items(), 1))
    path = home / "chats.jsonl"
    home.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    journal.import_files(settled, [ImportCandidate(str(path))], lambda _: None)
    return settled


@pytest.fixture
def settled(tmp_path: Path) -> Config:
    return filled(tmp_path / "home")


@pytest.fixture
def kept(settled: Config) -> Iterator[archive.Archive]:
    with archive.open_to_read(settled.home) as kept:
        yield kept


def stored(settled: Config) -> StoredVectors:
    said = vectors.read_info(embeddings.vectors_folder(settled))
    assert said is not None
    return StoredVectors(embeddings.vectors_folder(settled), said)


def by_key(settled: Config) -> dict[int, list[bytes]]:
    """The vectors of each key, in no order."""
    found: dict[int, list[bytes]] = {}
    at = stored(settled)
    for key, row in zip(at.keys.tolist(), at.rows, strict=True):
        found.setdefault(key, []).append(row.tobytes())
    return {key: sorted(rows) for key, rows in sorted(found.items())}


def told(settled: Config, text: str, mode: Any = "semantic") -> tuple[list[str], str]:
    """The conversations that are found, and what is said about it."""
    with Journal(settled) as opened:
        answer = opened.search(text, 3, mode=mode)
    return [hit.conversation.id for hit in answer.hits if hit.conversation], answer.semantic_problem


def test_everything_gets_vectors(settled: Config, kept: archive.Archive) -> None:
    progress: list[tuple[int, int]] = []

    assert Embedder(kept, settled, MODEL).run(on_progress=lambda *how_far: progress.append(how_far))

    assert sorted(kept.store.index_keys()) == stored(settled).known_keys().tolist()
    state = embeddings.read_state(kept, settled)
    assert (9, 9, True, MODEL.name) == (state.done, state.entries, state.whole, state.model)
    assert (9, 9) == progress[-1]
    assert [] == embeddings.find_problems(kept, settled)
    before = (embeddings.vectors_folder(settled) / vectors.INFO_FILE).stat().st_mtime_ns
    assert Embedder(kept, settled, MODEL).run()
    assert before == (embeddings.vectors_folder(settled) / vectors.INFO_FILE).stat().st_mtime_ns, (
        "nothing was to do"
    )


def test_the_newest_come_first(
    settled: Config, kept: archive.Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(static.StaticModel, "batch", 1)
    made = Embedder(kept, settled, MODEL)
    took = made._vectors
    taken: list[int] = []

    def taking(batch: Any) -> Any:
        taken.extend(batch)
        return took(batch)

    monkeypatch.setattr(made, "_vectors", taking)

    made.run()

    names = kept.store.entry_views(taken)
    conversations = [names[key].conversation for key in taken]
    listed = kept.store.listed(conversations)
    order = dict.fromkeys(listed[key].id for key in conversations)
    assert ["pool", "soup", "bike"] == list(order)


def test_time_that_is_over_ends_it_and_keeps_what_is_done(
    settled: Config, kept: archive.Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(static.StaticModel, "batch", 1)
    clock = iter(range(1000))
    monkeypatch.setattr("agent_journal.journal.embeddings.time.monotonic", lambda: float(next(clock)))

    assert not Embedder(kept, settled, MODEL).run(seconds=3)

    done = embeddings.read_state(kept, settled).done
    assert 0 < done < 9
    monkeypatch.undo()
    assert Embedder(kept, settled, MODEL).run()
    assert 9 == len(stored(settled).known_keys())


def test_whoever_interrupts_keeps_what_is_done(
    settled: Config, kept: archive.Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(static.StaticModel, "batch", 2)

    def interrupted(done: int, _: int) -> None:
        if done >= 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Embedder(kept, settled, MODEL).run(on_progress=interrupted)

    assert 4 <= embeddings.read_state(kept, settled).done < 9


KILLED = """
import os, signal, sys
from pathlib import Path
from agent_journal import archive, config
from agent_journal.journal import embeddings
from agent_journal.search.semantic import static, vectors
embeddings._WRITE_BATCH_COUNT = static.StaticModel.batch = 2
when, where = int(sys.argv[2]), sys.argv[3]
real, count = getattr(vectors, where), [0]
def killed(*arguments):
    count[0] += 1
    if count[0] == when:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*arguments)
setattr(vectors, where, killed)
settled = config.load(Path(sys.argv[1]), {})
with archive.open_to_read(settled.home) as kept:
    embeddings.Embedder(kept, settled, static.load()).run()
"""


@pytest.mark.parametrize("where", ["_write_at", "write_info"])
def test_whoever_is_killed_loses_nothing_and_doubles_nothing(tmp_path: Path, where: str) -> None:
    whole, cut = filled(tmp_path / "whole"), filled(tmp_path / "cut")
    with archive.open_to_read(whole.home) as kept:
        Embedder(kept, whole, MODEL).run()
    script = tmp_path / "killed.py"
    script.write_text(KILLED)

    killed = [
        subprocess.run([sys.executable, script, cut.home, str(when), where], check=False).returncode
        for when in (2, 3)
    ]

    assert [-signal.SIGKILL] * 2 == killed
    with archive.open_to_read(cut.home) as kept:
        assert Embedder(kept, cut, MODEL).run()
        assert embeddings.read_state(kept, cut).whole
    # Keys were given in the same order.
    assert by_key(whole) == by_key(cut)


def test_what_is_forgotten_has_no_vector_in_any_file(settled: Config, kept: archive.Archive) -> None:
    Embedder(kept, settled, MODEL).run()
    before = by_key(settled)
    gone = {key for conversation, keys in kept.store.newest_first(0) for key in keys
            if kept.store.listed([conversation])[conversation].id == "soup"}  # fmt: skip

    journal.forget(settled, lambda opened: [opened.find_conversation("soup").key])

    assert {key: rows for key, rows in before.items() if key not in gone} == by_key(settled)
    held = b"".join(path.read_bytes() for path in embeddings.vectors_folder(settled).iterdir())
    assert all(row not in held for key in gone & before.keys() for row in before[key])
    assert "soup" not in told(settled, "how to cook lentils")[0]
    assert Embedder(kept, settled, MODEL).run()
    assert embeddings.read_state(kept, settled).whole


def test_what_is_forgotten_meanwhile_gets_no_vector(
    settled: Config, kept: archive.Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Embedder(kept, settled, MODEL)
    real = made._write
    forgotten: list[bool] = []

    def keep() -> None:
        if not forgotten:
            forgotten.append(True)
            journal.forget(settled, lambda opened: [opened.find_conversation("soup").key])
        real()

    monkeypatch.setattr(made, "_write", keep)
    made.run()

    assert sorted(kept.store.index_keys()) == stored(settled).known_keys().tolist()
    assert 6 == len(stored(settled).known_keys())
    assert not embeddings.read_state(kept, settled).whole, "something else may stand for itself now"
    assert Embedder(kept, settled, MODEL).run()
    assert embeddings.read_state(kept, settled).whole


def test_vectors_that_are_removed_meanwhile_are_not_shown_as_whole(
    settled: Config, kept: archive.Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    Embedder(kept, settled, MODEL).run()
    whole = stored(settled).known_keys().tolist()
    path = settled.home / "more.jsonl"
    path.write_text(history("moon", ["The moon is late."], 9), encoding="utf-8")
    journal.import_files(settled, [ImportCandidate(str(path))], lambda _: None)

    def removing(embedder: Embedder, batch: Any, make: Any = Embedder._vectors) -> Any:
        vectors.discard(embeddings.vectors_folder(settled))
        return make(embedder, batch)

    with monkeypatch.context() as patched:
        patched.setattr(Embedder, "_vectors", removing)
        Embedder(kept, settled, MODEL).run()
    assert not embeddings.read_state(kept, settled).whole
    assert Embedder(kept, settled, MODEL).run()
    assert set(whole) < set(stored(settled).known_keys().tolist())


def test_whoever_starts_again_leaves_another_process_alone(
    settled: Config, kept: archive.Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "_EMBED_LOCK_WAIT_S", 0.0)
    Embedder(kept, settled, MODEL).run()
    before = stored(settled).info
    turn = Lock(embeddings.vectors_folder(settled) / "turn")
    turn.acquire(0)
    with pytest.raises(ArchiveInUse):
        journal.embed(settled, from_scratch=True)
    turn.release()

    assert before == stored(settled).info
    assert journal.embed(settled, from_scratch=True).whole
    assert (before.generation + 1, before.rows) == (stored(settled).info.generation, before.rows)


def test_everything_can_be_forgotten(settled: Config, kept: archive.Archive) -> None:
    Embedder(kept, settled, MODEL).run()

    journal.forget(settled, lambda opened: [opened.find_conversation(name).key for name in SAID])

    assert 0 == len(stored(settled).rows)
    assert ([], "") == told(settled, "soup")


@pytest.mark.parametrize(
    "environ",
    [
        {"AJ_INDEX_VECTOR_PRECISION": "f32"},
        {"AJ_INDEX_THINKING": "false"},
        {"AJ_INDEX_TOOL_OUTPUT": "false"},
    ],
)
def test_vectors_that_were_made_otherwise_are_made_again(
    settled: Config, kept: archive.Archive, environ: dict[str, str]
) -> None:
    Embedder(kept, settled, MODEL).run()
    other = config.load(settled.home, environ)

    assert embeddings.read_current(kept, other, MODEL) is None
    assert embeddings.read_current(kept, settled, HashModel()) is None
    assert Embedder(kept, other, MODEL).run()

    assert embeddings.read_current(kept, other, MODEL) is not None
    assert embeddings.read_current(kept, settled, MODEL) is None


def test_precision_changes_size_and_little_else(settled: Config, kept: archive.Archive) -> None:
    sizes, rows = [], []
    for precision in ("f16", "f32"):
        other = config.load(settled.home, {"AJ_INDEX_VECTOR_PRECISION": precision})
        Embedder(kept, other, MODEL).run()
        at = stored(other)
        sizes.append(sum(path.stat().st_size for path in at.folder.glob("*.rows")))
        rows.append(np.array(at.rows[np.argsort(at.keys, kind="stable")], np.float32))
        assert "bike" == told(other, "bicycle brakes")[0][0]

    assert sizes[0] * 2 == sizes[1]
    assert np.allclose(rows[0], rows[1], atol=1e-3)


def test_keys_that_a_power_cut_took_back_have_no_vectors(settled: Config, kept: archive.Archive) -> None:
    Embedder(kept, settled, MODEL).run()
    place = embeddings.vectors_folder(settled)
    said = vectors.read_info(place)
    assert said is not None
    vectors.write_info(place, said._replace(reach=kept.store.last_key() + 1))

    assert embeddings.read_current(kept, settled, MODEL) is None
    assert not embeddings.read_state(kept, settled).whole
    assert Embedder(kept, settled, MODEL).run()
    assert kept.store.last_key() == stored(settled).info.reach


def test_what_was_replaced_does_not_pile_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settled = filled(tmp_path / "home")
    monkeypatch.setattr(embeddings, "_MIN_STALE_SHARE", 0.1)
    for again in range(3):
        filled(settled.home, {name: [f"{text} {again}" for text in each] for name, each in SAID.items()})
        with archive.open_to_read(settled.home) as kept:
            assert Embedder(kept, settled, MODEL).run()
            alive = set(kept.store.index_keys())
            dead = set(stored(settled).known_keys().tolist()) - alive
            assert embeddings.read_state(kept, settled).whole
    assert len(dead) <= 0.2 * len(alive)


def test_while_the_graph_is_made_others_make_vectors(
    settled: Config, kept: archive.Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_it: list[str] = []
    monkeypatch.setattr(nearest, "GRAPH_MIN_VECTORS", 1)
    monkeypatch.setattr(nearest, "build_graph", lambda _: at_it.append(embeddings.running_process(settled)))

    Embedder(kept, settled, MODEL).run()

    assert [""] == at_it


# ── Who computes them, and what a search says meanwhile ──


def test_an_import_gives_vectors_to_what_it_brought(settled: Config, tmp_path: Path) -> None:
    path = tmp_path / "moon.jsonl"
    path.write_text(history("moon", ["The moon is late."], 9), encoding="utf-8")

    with Journal(settled) as opened:
        opened.import_([path])
        answer = opened.search("noisy bicycle", 1, mode="semantic")

    assert ["bike"] == [hit.conversation.id for hit in answer.hits if hit.conversation]
    assert ("", 0) == (answer.semantic_problem, answer.unembedded_count)


def test_a_sync_computes_what_an_earlier_one_could_not(
    settled: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    with Journal(settled) as opened:
        assert 9 == opened.search("lentil soup", mode="hybrid").unembedded_count
        opened.sync()
        assert 0 == opened.search("lentil soup", mode="hybrid").unembedded_count


def test_an_import_waits_for_no_other_process(settled: Config) -> None:
    turn = Lock(embeddings.vectors_folder(settled) / "turn")
    turn.acquire()
    try:
        upkeep.embed_newest(settled)
    finally:
        turn.release()

    assert vectors.read_info(embeddings.vectors_folder(settled)) is None


def test_a_slow_model_does_not_hold_up_an_import(
    settled: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr(subprocess, "Popen", lambda command, **_: started.append(command))
    tiny_onnx.write_model(tmp_path / "models")
    own = config.load(settled.home, {"AJ_INDEX_VECTOR_MODEL_PATH": str(tmp_path / "models")})

    upkeep.embed_newest(own)
    assert vectors.read_info(embeddings.vectors_folder(own)) is None
    assert upkeep.embed_in_background(own)
    assert "embed" in started[0]


def test_a_search_says_how_many_have_vectors(settled: Config, kept: archive.Archive) -> None:
    Embedder(kept, settled, MODEL).run()
    place = embeddings.vectors_folder(settled)
    said = vectors.read_info(place)
    assert said is not None
    stored = vectors.StoredVectors(place, said)
    assert len(stored.known_keys()) == stored.entries == 9
    of_first = int((stored.keys == stored.keys[0]).sum())
    vectors.write_info(place, said._replace(rows=of_first, mute=0, upto=0))

    assert told(settled, "lentil soup", "hybrid")[1].startswith("8 of 9 entries have no embeddings yet")


def test_of_many_a_search_says_about_how_many_have_vectors(
    settled: Config, kept: archive.Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    Embedder(kept, settled, MODEL).run()
    path = settled.home / "more.jsonl"
    path.write_text(history("moon", ["The moon is late.", "It always is."], 9), encoding="utf-8")
    journal.import_files(settled, [ImportCandidate(str(path))], lambda _: None)
    monkeypatch.setattr("agent_journal.journal.semantic._MAX_COUNTED_KEYS", 0)

    assert told(settled, "lentil soup", "hybrid")[1].startswith("3 of 12 entries have no embeddings yet")


def test_hybrid_answers_by_words_and_says_so(settled: Config) -> None:
    names, said = told(settled, "lentil soup", "hybrid")

    assert "soup" == names[0]
    assert "9 of 9 entries have no embeddings yet; 'aj embed' computes them." == said
    assert not embeddings.vectors_folder(settled).exists()


def test_a_search_while_another_process_is_at_it(settled: Config) -> None:
    turn = Lock(embeddings.vectors_folder(settled) / "turn")
    turn.acquire()
    try:
        names, said = told(settled, "lentil soup", "hybrid")
        with archive.open_to_read(settled.home) as kept, pytest.raises(ArchiveInUse):
            Embedder(kept, settled, MODEL).run()
    finally:
        turn.release()

    assert "soup" == names[0]
    assert said.endswith("they are being computed.")


@pytest.mark.parametrize("error", [ImportError, MemoryError, OSError])
def test_an_import_ends_well_where_no_model_can_be_loaded(
    settled: Config, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def fail() -> None:
        raise error("no room")

    monkeypatch.setattr(static, "load", fail)

    upkeep.embed_newest(settled)

    assert vectors.read_info(embeddings.vectors_folder(settled)) is None


def test_an_import_ends_well_where_vectors_cannot_be_written(
    settled: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise CannotWrite("/vectors", "no space left on device")

    monkeypatch.setattr(vectors, "append", full)

    upkeep.embed_newest(settled)

    assert "soup" == told(settled, "lentil soup", "hybrid")[0][0]
    with pytest.raises(CannotWrite, match="no space left"):
        journal.embed(settled)


def test_vectors_stay_mapped_until_they_change(settled: Config, kept: archive.Archive) -> None:
    Embedder(kept, settled, MODEL).run()
    with Journal(settled) as opened:
        first = opened.search("noisy bicycle", 3, mode="semantic")
        resources = opened._resources()
        folder, info = embeddings.vectors_folder(settled), stored(settled).info
        assert resources.stored_vectors(folder, info) is resources.stored_vectors(folder, info)

        Embedder(kept, settled, MODEL).run(from_scratch=True)
        assert first.hits == opened.search("noisy bicycle", 3, mode="semantic").hits
        assert stored(settled).info == resources.stored_vectors(folder, stored(settled).info).info

        (rows,) = folder.glob("*.rows")
        os.truncate(rows, 100)
        answer = opened.search("noisy bicycle", 3, mode="hybrid")
        assert "Cannot use the embeddings" in answer.semantic_problem
        rows.unlink()
        assert "Cannot use the embeddings" in opened.search("bicycle", mode="hybrid").semantic_problem


def test_damaged_vectors_are_reported_and_made_again(settled: Config, kept: archive.Archive) -> None:
    Embedder(kept, settled, MODEL).run()
    at = embeddings.vectors_folder(settled) / "1.rows"
    at.write_bytes(at.read_bytes()[:100])

    names, said = told(settled, "lentil soup", "hybrid")
    assert "soup" == names[0]
    assert "aj embed --rebuild" in said
    assert embeddings.find_problems(kept, settled)

    journal.embed(settled)
    assert [] == embeddings.find_problems(kept, settled)
    assert "" == told(settled, "lentil soup")[1]


def test_without_words_the_index_is_not_asked_for_vectors(settled: Config) -> None:
    index_folder.discard(settled.storage.index_path)

    with Journal(settled) as opened:
        assert opened.search("lentil", 3, mode="hybrid").hits


# ── Keys of the configuration ──


def test_search_by_meaning_can_be_switched_off(settled: Config) -> None:
    off = config.load(settled.home, {"AJ_INDEX_VECTOR_ENABLED": "false"})

    names, said = told(off, "lentil soup", "hybrid")

    assert "soup" == names[0]
    assert "is disabled" in said
    assert not embeddings.vectors_folder(off).exists()
    assert 0 == journal.embed(off).vectors


def test_the_default_mode_is_settled(settled: Config) -> None:
    journal.embed(settled)
    found = {}
    for mode in ("lexical", "semantic", "hybrid"):
        other = config.load(settled.home, {"AJ_SEARCH_DEFAULT_MODE": mode})
        found[mode] = told(other, "cycling noise", None)[0]

    assert ([], True, True) == (found["lexical"], "bike" in found["semantic"], "bike" in found["hybrid"])


def test_a_model_of_ones_own_is_used_for_everything(settled: Config, tmp_path: Path) -> None:
    tiny_onnx.write_model(tmp_path / "models")
    own = config.load(settled.home, {"AJ_INDEX_VECTOR_MODEL_PATH": str(tmp_path / "models")})
    journal.embed(own)

    assert "soup" == told(own, "broth")[0][0]
    assert stored(own).info.made.model.startswith("onnx models")
    assert 3 == stored(own).info.made.dimensions


def test_a_model_of_ones_own_may_only_reorder(settled: Config, tmp_path: Path) -> None:
    tiny_onnx.write_model(tmp_path / "models")
    environ = {"AJ_INDEX_VECTOR_MODEL_PATH": str(tmp_path / "models"), "AJ_INDEX_VECTOR_MODEL_USE": "rerank"}
    own = config.load(settled.home, environ)
    journal.embed(own)

    names, said = told(own, "lentil soup", "hybrid")

    assert (MODEL.name, "") == (stored(own).info.made.model, said)
    assert "soup" in names


def test_a_broken_model_is_reported_and_the_bundled_one_is_used(settled: Config, tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "model.onnx").write_bytes(b"nothing")
    own = config.load(settled.home, {"AJ_INDEX_VECTOR_MODEL_PATH": str(tmp_path / "models")})

    names, said = told(own, "noisy bicycle")

    assert "bike" == names[0]
    assert f"{tmp_path / 'models'}: this model cannot be used" in said
    assert "\n" not in said


@pytest.mark.parametrize(("fallback", "model"), [("hash", "hash 1"), ("none", None)])
def test_the_fallback_is_settled(
    settled: Config, monkeypatch: pytest.MonkeyPatch, fallback: str, model: str | None
) -> None:
    monkeypatch.setattr(static, "_PACKAGE", "no-such-package")
    other = config.load(settled.home, {"AJ_INDEX_VECTOR_FALLBACK": fallback})
    upkeep.embed_newest(other)

    names, said = told(other, "lentil soup", "hybrid")

    assert "soup" == names[0]
    assert "is not installed" in said
    found = vectors.read_info(embeddings.vectors_folder(other))
    assert model == (found.made.model if found else None)


# ── The command ──


def run(home: Path, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "AJ_HOME": str(home), **environ}
    command = [sys.executable, "-m", "agent_journal", *arguments]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


def test_much_is_prepared_in_the_background(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    said = [
        f"Message {place} about tea and the weather." for place in range(embeddings.MIN_BACKGROUND_ENTRIES)
    ]
    path = tmp_path / "much.jsonl"
    path.write_text(history("much", said), encoding="utf-8")

    quiet = run(tmp_path / "other", "import", str(path), AJ_INDEX_VECTOR_BACKGROUND="false")
    assert "background" not in quiet.stderr
    assert (tmp_path / "other" / "index.vectors").exists()
    told_ = run(home, "import", str(path))

    assert (0, True) == (told_.returncode, "in the background" in told_.stderr)
    settled = config.load(home, {})
    until = time.monotonic() + 60
    with archive.open_to_read(home) as kept:
        while not embeddings.read_state(kept, settled).whole and time.monotonic() < until:
            time.sleep(0.05)
        assert embeddings.read_state(kept, settled).whole
        Lock(embeddings.vectors_folder(settled) / "turn").acquire(30)
    assert "background" not in run(home, "import", str(path)).stderr


def test_watching_computes_the_vectors_of_what_comes(
    settled: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    monkeypatch.setattr("agent_journal.journal.watch._EMBED_AFTER_S", 0.01)
    computed: list[Watcher] = []

    def compute_and_stop(_: Config) -> None:
        """At first for what was there, then for what was imported meanwhile."""
        computed.append(watcher)
        if len(computed) == 1:
            watcher._lacks_embeddings = True
        else:
            watcher.stop()

    monkeypatch.setattr("agent_journal.journal.watch.embed_newest", compute_and_stop)
    with Journal(settled) as opened:
        watcher = opened.watch()
        watcher.run()

    assert 2 == len(computed)
