"""The loader of LoCoMo and its baseline, on a dialogue of our own in the same format."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.search import locomo
from tests.search.plain_bm25 import PlainBm25

if TYPE_CHECKING:
    from pathlib import Path

DIALOGUE = {
    "qa": [
        {"question": "Where did Ines learn to row?", "evidence": ["D2:1; D1:2"]},
        {"question": "What is nowhere?", "evidence": []},
    ],
    "conversation": {
        "speaker_a": "Ines",
        "speaker_b": "Jo",
        "session_1_date_time": "1:56 pm on 8 May, 2024",
        "session_1": [
            {"speaker": "Ines", "dia_id": "D1:1", "text": "Hello."},
            {"speaker": "Jo", "dia_id": "D1:2", "text": "Look.", "blip_caption": "a boat"},
        ],
        "session_2_date_time": "9:00 am on 9 May, 2024",
        "session_2": [{"speaker": "Ines", "dia_id": "D2:1", "text": "I learned rowing on the Elbe."}],
        "session_3_date_time": "9:00 am on 10 May, 2024",
    },
}


def test_sessions_are_conversations_and_evidence_names_them(tmp_path: Path) -> None:
    path = tmp_path / "locomo10.json"
    path.write_text(json.dumps([DIALOGUE] * 6), encoding="utf-8")

    loaded = locomo.load(path)

    assert [each.name for each in loaded.sessions[:3]] == ["1:1", "1:2", "2:1"]
    assert loaded.sessions[0].messages[1] == ("assistant", "Jo: Look. [a boat]")
    assert loaded.sessions[1].day == "2024-05-09"
    assert [each.half for each in loaded.questions] == ["tune"] * 5 + ["report"]
    assert loaded.questions[0].relevant == {"1:1", "1:2"}


def test_the_baseline_adds_windows_and_conversations() -> None:
    baseline = PlainBm25([["boats", "rowing", "elbe"], ["boats and more boats"], ["nothing"]])

    assert baseline.rank("Where is the rowed boat on the Elbe?") == [0, 1]
