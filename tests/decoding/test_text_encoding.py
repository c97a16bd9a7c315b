"""Telling files with comment lines from others."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent_journal.decoding import text_encoding


@given(st.lists(st.sampled_from([b"/", b"//", b"\n", b" ", b"\t", b'"a": "http://x"', b"\r\n", b"x"])))
def test_a_comment_line_is_found_as_looking_at_each_line_would(pieces: list[bytes]) -> None:
    text = b"".join(pieces)

    assert text_encoding._has_comment_line(text) is any(
        line.lstrip(b" \t").startswith(b"//") for line in text.split(b"\n")
    )
