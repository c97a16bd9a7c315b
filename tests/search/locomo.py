"""Session retrieval on LoCoMo (`snap-research/LoCoMo`, CC BY-NC): which conversation holds the evidence?

The file `data/locomo10.json` is only read, for evaluation; nothing of it may be committed. Each session of a
dialogue is a conversation. Dialogues 1–5 are for tuning, 6–10 are reported on.
"""

from __future__ import annotations

import json
import re
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from agent_journal.search import hybrid
from agent_journal.search.query import parse
from agent_journal.search.semantic import models
from tests.search.corpus import Said, Talk
from tests.search.plain_bm25 import PlainBm25
from tests.search.quality import Bench, mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from agent_journal.search.ranking import Ranker

_SESSION_KEY = re.compile(r"session_(\d+)")
_EVIDENCE = re.compile(r"D(\d+):\d+")
_TUNING_DIALOGUES = 5
_RANKED_MESSAGES = 200  # as a search ranks at first
_TOP = 5
_TIME_FORMAT = "%I:%M %p on %d %B, %Y"


class Question(NamedTuple):
    """A question with the names of the sessions that hold its evidence."""

    dialogue: str
    text: str
    relevant: frozenset[str]
    half: str  # tune or report


class Dataset(NamedTuple):
    """All sessions, and the questions about them."""

    sessions: list[Talk]
    questions: list[Question]


def load(path: Path) -> Dataset:
    """Load `locomo10.json`; questions without evidence are left out."""
    dialogues: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    sessions: list[Talk] = []
    questions: list[Question] = []
    for number, dialogue in enumerate(dialogues, 1):
        half = "tune" if number <= _TUNING_DIALOGUES else "report"
        sessions += _sessions(number, dialogue["conversation"])
        questions += _questions(number, dialogue["qa"], half)
    return Dataset(sessions, questions)


def _sessions(dialogue: int, content: dict[str, Any]) -> Iterator[Talk]:
    speakers = {content["speaker_a"]: "user", content["speaker_b"]: "assistant"}
    for key, turns in content.items():
        match = _SESSION_KEY.fullmatch(key)
        if match is not None and turns:
            day = datetime.strptime(content[f"{key}_date_time"], _TIME_FORMAT).date()  # noqa: DTZ007
            messages = [Said(speakers[turn["speaker"]], _text(turn)) for turn in turns]
            yield Talk(f"{dialogue}:{match[1]}", "", day.isoformat(), messages)


def _text(turn: dict[str, Any]) -> str:
    caption = f" [{turn['blip_caption']}]" if turn.get("blip_caption") else ""
    return f"{turn['speaker']}: {turn['text']}{caption}"


def _questions(dialogue: int, content: list[dict[str, Any]], half: str) -> Iterator[Question]:
    for each in content:
        numbers = _EVIDENCE.findall(" ".join(each["evidence"]))
        if numbers:
            sessions = frozenset(f"{dialogue}:{number}" for number in numbers)
            yield Question(str(dialogue), each["question"], sessions, half)


class Score(NamedTuple):
    """How well a question was answered."""

    hit_at_1: float
    hit_at_5: float
    reciprocal: float


MODES = ("plain BM25", "lexical", "hybrid")
SENTENCE_MODE = "hybrid, with the sentence model"
Scores = dict[str, list[Score]]
"""The scores of all questions by way of searching."""


def measure(home: Path, dataset: Dataset, half: str, *, with_sentences: bool = False) -> dict[str, Scores]:
    """Measure the questions of a half, with a journal for each dialogue and with one for all."""
    questions = [each for each in dataset.questions if each.half == half]
    separate: Scores = {mode: [] for mode in (*MODES, *([SENTENCE_MODE] if with_sentences else []))}
    for dialogue in dict.fromkeys(each.dialogue for each in questions):
        sessions = [each for each in dataset.sessions if each.name.partition(":")[0] == dialogue]
        own = [each for each in questions if each.dialogue == dialogue]
        measured = _measure_journal(home / dialogue, sessions, own, with_sentences=with_sentences)
        for mode, scores in measured.items():
            separate[mode] += scores
    together = _measure_journal(home / "all", dataset.sessions, questions, with_sentences=with_sentences)
    return {"one journal per dialogue": separate, "one journal for all": together}


def _measure_journal(
    home: Path, sessions: Sequence[Talk], questions: Sequence[Question], *, with_sentences: bool
) -> Scores:
    home.mkdir()
    bench = Bench(home, sessions)
    baseline = PlainBm25([[message.text for message in session.messages] for session in sessions])
    model = models.choose_model(Path("/nowhere"), "none").model
    assert model is not None
    semantic = bench.meaning(model)
    rankers: dict[str, Ranker] = {
        "lexical": bench.words,
        "hybrid": hybrid.HybridRanker(bench.words, semantic),
    }
    if with_sentences:
        rankers[SENTENCE_MODE] = bench.sentences(semantic, read_all=True)
    scores: Scores = {
        "plain BM25": [
            _score(each, [sessions[number].name for number in baseline.rank(each.text)]) for each in questions
        ]
    }
    for mode, ranker in rankers.items():
        scores[mode] = [_score(each, _ranked_sessions(bench, ranker, each)) for each in questions]
    bench.words.close()
    bench.archive.close()
    return scores


def _ranked_sessions(bench: Bench, ranker: Ranker, question: Question) -> list[str]:
    query, _ = bench.words.correct(parse(question.text))
    names = [bench.names.get(hit.key) for hit in ranker.rank(query, _RANKED_MESSAGES).entries]
    return list(dict.fromkeys(name.partition("/")[0] for name in names if name))


def _score(question: Question, sessions: Sequence[str]) -> Score:
    place = next((place for place, name in enumerate(sessions, 1) if name in question.relevant), 0)
    return Score(float(place == 1), float(0 < place <= _TOP), 1 / place if place else 0.0)


def table(measured: dict[str, Scores]) -> list[str]:
    """A table in Markdown."""
    lines = ["| | | hit@1 | hit@5 | MRR |", "|---|---|---|---|---|"]
    for scope, by_mode in measured.items():
        for mode, scores in by_mode.items():
            means = [mean([each[measure] for each in scores]) for measure in range(len(Score._fields))]
            percent = [f"{100 * one:.1f} ({100 * low:.1f}–{100 * high:.1f})" for one, low, high in means[:2]]
            lines.append(
                f"| {scope} | {mode} | {' | '.join(percent)} "
                f"| {means[2].value:.3f} ({means[2].low:.3f}–{means[2].high:.3f}) |"
            )
    return lines
