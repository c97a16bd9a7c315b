"""Portable AI Memory: what holds whatever the source is, from versions of importers to ids that are paths."""

from __future__ import annotations

import hashlib
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agent_journal import readers
from agent_journal.conversion.output import write_items
from agent_journal.conversion.pipeline import read_all
from agent_journal.model import (
    Citation,
    Code,
    Conversation,
    Event,
    Feedback,
    Item,
    Media,
    Memory,
    Message,
    Origin,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    Usage,
    tree,
)
from agent_journal.notes import Kind, Notes
from agent_journal.records.pam_integrity import content_hash
from agent_journal.writers.pam.values import OWN_KEY, provider_name, tags, uri
from tests.cases import Case, all_cases, outcome
from tests.models import items as any_items
from tests.pam_bundle import bundle_of, bundled, document_errors, files_of, schema
from tests.pam_bundle import errors as bundle_errors
from tests.read_back.pam import LOSSES
from tests.test_read_back import after

AT = "2026-03-01T10:00:00Z"


def talk(*entries: Message | Event, **more: Any) -> Conversation:
    return Conversation(**({"id": "c", "source": "x", "timeline": [*entries]} | more))


def message(*parts: Part, **more: Any) -> Message:
    return Message(**({"id": "m", "role": "assistant", "at": AT, "parts": [*parts]} | more))


def back(folder: Path, *items: Item) -> list[Item]:
    """What is read of items that were written."""
    write_items(items, "pam", str(folder / "bundle"), Notes())
    return [*read_all([str(folder / "bundle")], Notes())]


@pytest.mark.parametrize("case", all_cases(), ids=str)
def test_every_case_of_every_reader_is_valid(case: Case, tmp_path: Path) -> None:
    """By the schemas with their formats, and by the official SDK with its deep checks."""
    items = outcome(case.location(tmp_path)).items
    if not items:
        pytest.skip("there is nothing in it")
    write_items(items, "pam", str(tmp_path / "bundle"), Notes())

    assert [] == bundle_errors(files_of(tmp_path / "bundle"))


# Import metadata, §8.


def test_importer_and_its_version() -> None:
    origin = Origin(reader="chatty", version="2026", revision=3, file="conversations.json", sha256="ab" * 32)
    found = bundled(talk(message(), origin=origin)).only

    assert found["import_metadata"]["importer"].startswith("agent-journal/")
    assert found["import_metadata"]["importer_version"] == "chatty-importer/2026.3"
    assert found["import_metadata"]["source_file"] == "conversations.json"
    assert found["import_metadata"]["source_checksum"] == "sha256:" + "ab" * 32
    assert found["import_metadata"]["imported_at"].endswith("Z")
    assert found["provider"]["export_format_version"] == "2026"


FOLDERS = {
    "chatgpt/export_2023": {"conversations.json"},
    "chatgpt/sharded_2026": {"conversations-000.json", "conversations-001.json"},
    "claude-ai/export_folder": {"conversations.json"},
    "claude-ai/manifest_zips": {"conversations-001.zip/conversations.json"},
    "gemini-takeout/export_folder": {"MeineAktivitäten.html"},
    "grok/export_folder": {"prod-grok-backend.json"},
}


@pytest.mark.parametrize("case", FOLDERS)
def test_the_source_of_what_is_in_a_folder_is_the_file(case: str) -> None:
    folder = Path(__file__).parents[1] / "readers" / case / "input"
    found = [each["import_metadata"] for each in bundle_of(folder).conversations]

    assert FOLDERS[case] == {each["source_file"] for each in found}
    for each in found:
        archive, is_zipped, inside = each["source_file"].partition(".zip/")
        data = (
            zipfile.ZipFile(folder / f"{archive}.zip").read(inside)
            if is_zipped
            else next(folder.rglob(each["source_file"])).read_bytes()
        )
        assert f"sha256:{hashlib.sha256(data).hexdigest()}" == each["source_checksum"]


def test_the_source_of_what_is_in_a_zip_is_the_zip(tmp_path: Path) -> None:
    inside = Path(__file__).parents[1] / "readers" / "claude-ai" / "export_folder" / "input"
    export = tmp_path / "data-2026.zip"
    with zipfile.ZipFile(export, "w") as archive:
        for file in inside.iterdir():
            archive.write(file, file.name)
    digest = hashlib.sha256(export.read_bytes()).hexdigest()

    for each in bundle_of(export).conversations:
        assert "data-2026.zip" == each["import_metadata"]["source_file"]
        assert f"sha256:{digest}" == each["import_metadata"]["source_checksum"]


def test_a_checksum_that_is_none_is_left_out() -> None:
    origin = Origin(reader="chatty", version="1", revision=1, sha256="nonsense")

    assert "source_checksum" not in bundled(talk(origin=origin)).only["import_metadata"]


# Names of providers.


@pytest.mark.parametrize(
    ("name", "expected"),
    [("chatgpt", "chatgpt"), ("My App!", "my-app"), ("x", "unknown"), ("", "unknown"), ("ü", "unknown")],
)
def test_provider_names(name: str, expected: str) -> None:
    assert expected == provider_name(name)


def test_every_reader_has_a_name_that_the_format_takes() -> None:
    for reader in readers.discover().values():
        name = reader.INFO.names.get("pam", reader.INFO.name)

        assert name == provider_name(name)


def test_tags_are_made_valid() -> None:
    assert ["starred", "to-do", "a_b", "9"] == tags(["Starred", "to do", "a_b", "!", "9", "TO DO", ""])


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("https://a.example/x?y=1#z", "https://a.example/x?y=1#z"),
        ("https://a.example/ä b", "https://a.example/%C3%A4%20b"),
        ("mailto:a@b.example", "mailto:a@b.example"),
        ("https://a.example/100%", None),
        ("http://a:b/", None),
        ("no address", None),
        ("", None),
    ],
)
def test_addresses_are_uris_or_left_out(address: str, expected: str | None) -> None:
    assert expected == uri(address)


@given(st.text(max_size=30), st.sampled_from(["", "http://", "https://a.example/", "a:", "//"]))
def test_whatever_is_taken_for_a_uri_is_one(text: str, start: str) -> None:
    address = uri(start + text)
    document: dict[str, Any] = {
        "schema": "portable-ai-memory-conversation",
        "schema_version": "1.0",
        "id": "1",
    }
    document |= {"provider": {"name": "xx"}, "temporal": {"created_at": AT}}
    document["messages"] = [{"id": "1", "role": "user", "created_at": AT, "citations": [{"url": address}]}]

    assert [] == [*schema(document["schema"]).iter_errors(document)]


# Messages.


def test_parts_become_what_the_format_has_for_them() -> None:
    found = bundled(
        talk(
            message(
                Text(text="Look", citations=[Citation(title="T", url="https://a.example", text="S")]),
                Code(code="x = 1", language="python"),
                Media(kind="document", mime="application/pdf", name="a.pdf", size=3, ref="files/a.pdf"),
                Media(kind="image", mime="image/png", data="AAAA"),
                ToolCall(name="run", call_id="1", input=[1, 2]),
                usage=Usage(output=7, input=100),
                model="glow",
            )
        )
    ).message("m")

    assert found["content"] == {
        "type": "multipart",
        "text": "Look\nx = 1",
        "parts": [
            {"type": "text", "text": "Look"},
            {"type": "code", "text": "x = 1", "language": "python"},
            {"type": "file", "mime_type": "application/pdf", "ref": "files/a.pdf"},
            {"type": "image", "mime_type": "image/png"},
        ],
    }
    assert found["attachments"] == [
        {
            "type": "document",
            "name": "a.pdf",
            "mime_type": "application/pdf",
            "size_bytes": 3,
            "ref": "files/a.pdf",
        },
        {"type": "image", "mime_type": "image/png", "ref": "data:image/png;base64,AAAA"},
    ]
    assert found["citations"] == [{"title": "T", "url": "https://a.example", "snippet": "S"}]
    assert found["tool_calls"] == [{"name": "run", "input": "[1,2]", "id": "1"}]
    assert (found["token_count"], found["model"]) == (7, "glow")


def test_a_record_made_only_of_tool_results_is_messages_of_the_tool() -> None:
    call = message(
        ToolCall(name="ls", call_id="1", input={}), ToolCall(name="cat", call_id="2", input={}), id="a"
    )
    answer = message(
        ToolResult(call_id="1", output="x"),
        ToolResult(call_id="2", output="y"),
        id="b",
        role="user",
        parent_id="a",
    )
    found = bundled(talk(call, answer))
    said, first, second = found.only["messages"]

    assert ["x", "y"] == [each["output"] for each in said["tool_calls"]]
    assert [("tool", "x"), ("tool", "y")] == [
        (each["role"], each["content"]["text"]) for each in (first, second)
    ]
    assert [[{"name": "ls", "id": "1"}], [{"name": "cat", "id": "2"}]] == [
        each["tool_calls"] for each in (first, second)
    ]
    assert (first["id"], first["parent_id"], second["parent_id"]) == ("b", "a", "b")


def test_a_result_without_an_id_answers_no_call_that_has_none_either() -> None:
    found = bundled(talk(message(ToolCall(name="ls")), message(ToolResult(output="x"), id="b"))).message("b")

    assert "tool_calls" not in found


def test_an_answer_of_files_alone_has_no_text() -> None:
    image = Media(kind="image", mime="image/png", data="AAAA")
    call = message(ToolCall(name="draw", call_id="1"), id="a")
    found = bundled(talk(call, message(ToolResult(call_id="1", output=[image]), id="b")))

    assert found.message("a")["tool_calls"] == [{"name": "draw", "id": "1"}]
    assert [{"type": "image", "mime_type": "image/png", "ref": "data:image/png;base64,AAAA"}] == (
        found.message("b")["attachments"]
    )


def test_results_stand_before_what_a_person_adds_to_them() -> None:
    found = bundled(talk(message(ToolResult(output="x"), Text(text="Go on"), role="user"))).only["messages"]

    assert [("tool", "x"), ("user", "Go on")] == [(each["role"], each["content"]["text"]) for each in found]


def test_each_thought_is_a_message_and_a_summary_stands_in_for_one() -> None:
    parts: list[Part] = [
        Reasoning(text="One"),
        Reasoning(summary="Two"),
        Reasoning(encrypted="#"),
        Text(text="Three"),
    ]
    found = bundled(talk(message(*parts))).only["messages"]

    assert [True, True, True, False] == [each.get("is_thought", False) for each in found]
    assert ["One", "Two", None, "Three"] == [each.get("content", {}).get("text") for each in found]
    assert 4 == len({each["id"] for each in found})


def test_in_a_list_nothing_has_a_parent() -> None:
    parts: list[Part] = [Reasoning(text="Hm"), Text(text="Hi"), ToolResult(output="x")]
    found = bundled(talk(message(*parts), shape="list")).only["messages"]

    assert [(None, [])] * 3 == [(each["parent_id"], each["children_ids"]) for each in found]


def test_times_that_are_missing_are_the_conversations_and_noted() -> None:
    notes = Notes()
    found = bundled(talk(message(at=None), started_at=AT), notes=notes)

    assert found.message("m")["created_at"] == AT
    assert 1 == notes.counts[Kind.MISSING_TIME]


@pytest.mark.parametrize(
    ("started", "updated", "expected"),
    [
        (None, None, {"created_at": AT, "updated_at": AT}),
        ("2026-02-30T00:00:00Z", None, {"created_at": AT, "updated_at": AT}),
        ("2026-12-31T23:59:60Z", None, {"created_at": "2026-12-31T23:59:59Z"}),
        (AT, "2020-01-01T00:00:00Z", {"created_at": AT}),
        (AT, "2026-03-01T11:00:00.123456789+02:00", {"created_at": AT}),
        (AT, "2026-03-01T12:00:00.5+02:00", {"created_at": AT, "updated_at": "2026-03-01T12:00:00.5+02:00"}),
    ],
)
def test_times_of_a_conversation(started: str | None, updated: str | None, expected: Any) -> None:
    assert expected == bundled(talk(message(), started_at=started, updated_at=updated)).only["temporal"]


def test_a_missing_time_is_noted() -> None:
    notes = Notes()

    assert bundled(talk(), notes=notes).only["temporal"] == {"created_at": "1970-01-01T00:00:00Z"}
    assert 1 == notes.counts[Kind.CHANGED]


# Files and ids.

BAD_IDS = [
    "",
    "../../etc/passwd",
    "/etc/passwd",
    "a/b",
    "a\\b",
    "..",
    ".",
    "con",
    "NUL",
    "a" * 500,
    "ü",
    "a\0b",
    "-rf",
    "a.",
]


@pytest.mark.parametrize("bad", BAD_IDS)
def test_ids_that_are_paths_do_not_lead_out(bad: str, tmp_path: Path) -> None:
    conversation = talk(message(id=bad), message(id=bad), id=bad)
    (again,) = back(tmp_path, conversation)
    files = files_of(tmp_path)

    assert isinstance(again, Conversation)
    assert (bad, [bad, bad]) == (again.id, [entry.id for entry in again.timeline])
    assert all(name.startswith("bundle/") for name in files)
    assert 2 == len(files)
    assert [] == bundle_errors(files_of(tmp_path / "bundle"))


def test_names_that_differ_only_in_case_are_two_files(tmp_path: Path) -> None:
    again = back(tmp_path, talk(id="a"), talk(id="A"), talk(id="a", source="y"))

    assert 3 == len({path.name.lower() for path in (tmp_path / "bundle" / "conversations").iterdir()})
    assert [("x", "a"), ("x", "A"), ("y", "a")] == [(item.source, item.id) for item in again]


def test_a_tool_name_of_megabytes_and_control_characters_are_valid() -> None:
    found = bundled(
        talk(message(ToolCall(name="x" * 10_000_000), Text(text="\x00\x1b[31m\u2028"), ToolCall(name="")))
    )
    calls = found.message("m")["tool_calls"]

    assert (10_000_000, "unknown") == (len(calls[0]["name"]), calls[1]["name"])
    assert found.message("m")["content"]["text"] == "\x00\x1b[31m\u2028"


# The store.


def test_the_checksum_is_of_what_is_stored() -> None:
    extra = {"weight": 1.0, "none": None, "list": [1e21, -0.0]}
    memories = [
        Memory(
            id=name,
            source="x",
            kind="fact",
            text=f"  Tea\t{name} ",
            at="2026-03-01T10:00:00.5+02:00",
            extra=extra,
        )
        for name in ("b", "a")
    ]
    store = bundled(*memories).store
    stored = sorted(store["memories"], key=lambda memory: memory["id"])

    assert store["integrity"] == {
        "canonicalization": "RFC8785",
        "checksum": f"sha256:{hashlib.sha256(rfc8785.dumps(stored)).hexdigest()}",
        "total_memories": 2,
    }
    assert stored[0]["temporal"]["created_at"] == "2026-03-01T08:00:00.500000Z"


def test_content_hash_as_the_specification_has_it() -> None:
    """Its reference example."""
    assert content_hash("  Hello\tWorld  ") == content_hash("hello world")
    assert content_hash("hello world").startswith("sha256:b94d27b9")


@pytest.mark.parametrize("extra", [{"big": 2**60}, {"deep": json.loads("[" * 200 + "]" * 200)}])
def test_what_has_no_canonical_form_is_shown_as_text(extra: dict[str, Any], tmp_path: Path) -> None:
    memory = Memory(id="a", source="x", kind="fact", text="Tea", extra=extra)

    assert [memory] == [replace(item, origin=None) for item in back(tmp_path, memory)]
    assert [] == bundle_errors(files_of(tmp_path / "bundle"))


def test_memories_without_text_kind_time_or_an_id_of_their_own() -> None:
    notes = Notes()
    nothing = Memory(id="", source="", kind="", text="")
    found = bundled(nothing, nothing, notes=notes).store

    assert 2 == len({memory["id"] for memory in found["memories"]})
    assert {"custom"} == {memory["type"] for memory in found["memories"]}
    assert (2, 2) == (notes.counts[Kind.MISSING_TIME], notes.counts[Kind.CHANGED])
    assert found["owner"] == {"id": "unknown"}


def test_ratings_of_messages_are_reported_with_them_and_stored_once(tmp_path: Path) -> None:
    rated = talk(message(), feedback=[Feedback(rating="up", text="Nice", message_id="m")])
    (again,) = back(tmp_path, rated)

    assert bundled(rated).message("m")["raw_metadata"]["feedback"] == {"rating": "up", "text": "Nice"}
    assert replace(again, origin=None) == rated


def test_fields_of_a_source_that_are_called_like_ours(tmp_path: Path) -> None:
    """Whatever names meet, each is read back as it was."""
    names = ["agent_journal", "agent_journal_", "metadata", "xx_metadata", "feedback", "other"]
    for bits in range(1 << len(names)):
        extra = {name: {"n": place} for place, name in enumerate(names) if bits >> place & 1}
        folder = tmp_path / str(bits)
        folder.mkdir()
        thought = Reasoning(text="Hm", extra=extra)
        spoken = message(thought, Text(text="Hi"), extra=extra)
        silent = message(thought, id="n", extra=extra)
        bare = message(thought, id="o")
        feedback = [Feedback(rating="up", message_id=each.id) for each in (spoken, silent, bare)]
        whole = talk(spoken, silent, bare, source="xx", extra=extra, feedback=feedback)

        assert [whole] == [replace(item, origin=None) for item in back(folder, whole)]


@given(items=st.lists(any_items, max_size=3))
def test_any_model_is_read_back_as_it_was(
    items: list[Item], tmp_path_factory: pytest.TempPathFactory
) -> None:
    if items:
        again = back(tmp_path_factory.mktemp("any"), *items)

        assert after(items, LOSSES.values()) == after(again, LOSSES.values())


# Other programs' documents.


def test_the_schemas_refuse_what_is_wrong() -> None:
    conversation = bundled(talk(message())).only
    assert [] == document_errors(conversation)
    for change in ({"id": ""}, {"provider": {"name": "X"}}, {"temporal": {"created_at": "now"}}, {"new": 1}):
        assert document_errors(conversation | change)


OTHER = Path(__file__).parents[1] / "readers" / "pam" / "other_program" / "input"


def test_a_conversation_of_a_provider_keeps_its_name_when_it_is_written_again() -> None:
    again = bundled(*outcome(OTHER).items)

    assert ["perplexity", "local"] == [each["provider"]["name"] for each in again.conversations]


def test_what_another_store_has_is_written_again() -> None:
    """Status, provenance, confidence, access and times of memories, their relations, and their owner."""
    stored = json.loads((OTHER / "memory-store.json").read_bytes())
    notes = Notes()
    again = bundled(*outcome(OTHER).items, notes=notes).store
    _, first, second = again["memories"]
    before, earlier, _ = stored["memories"]
    same = ("id", "type", "status", "content", "content_hash", "tags", "provenance", "access", "confidence")

    assert {name: before[name] for name in same} == {name: first[name] for name in same}
    assert first["temporal"] == {"created_at": "2026-05-01T09:00:00Z", "updated_at": "2026-05-02T09:00:00Z"}
    assert before["metadata"].items() <= first["metadata"].items()
    assert (second["type"], second["custom_type"], second["status"]) == ("custom", "ritual", "superseded")
    assert second["temporal"] == {"created_at": "2026-05-01T07:00:00Z", "superseded_by": "mem-a"}
    assert second["provenance"]["platform"] == earlier["provenance"]["platform"] == "perplexity"
    assert stored["relations"] == again["relations"]
    assert stored["owner"] == again["owner"]


def test_what_a_file_states_is_written_once_under_the_formats_own_name(tmp_path: Path) -> None:
    parts: list[Part] = [
        Text(text="see"),
        Media(kind="document", name="a.pdf", ref="a", text="Moss", extra={"pages": 2}),
        Media(kind="file", mime="text/plain", data="AAAA", text="Fern"),
    ]
    item = Conversation(id="c", source="pam", timeline=[Message(id="m", role="user", at=AT, parts=parts)])
    (told,) = bundled(item).conversations

    assert ["see", "Moss", "Fern"] == [part["text"] for part in told["messages"][0]["content"]["parts"]]
    assert json.dumps(told).count("Moss") == json.dumps(told).count("Fern") == 1
    (found,) = back(tmp_path, item)
    assert isinstance(found, Conversation)
    assert [parts] == [message.parts for message in tree.messages(found)]


def test_a_memory_that_must_not_be_exported_is_left_out_and_noted() -> None:
    notes = Notes()
    again = bundled(*outcome(OTHER).items, notes=notes)

    assert "third pot" in (OTHER / "memory-store.json").read_text(encoding="utf-8")
    assert "third pot" not in json.dumps([again.store, again.conversations])
    assert ["pam:mem-c access.exportable: not-expressed: a memory marked as not exportable"] == [
        str(note) for note in notes.collected if note.kind == Kind.NOT_EXPRESSED.label
    ]


@pytest.mark.parametrize(
    "said",
    [
        {"status": "new", "summary": 1, "tags": ["Ü", "To do", 3], "access": {"visibility": "all"}},
        {"status": [], "tags": {}, "confidence": {"initial": 2}, "temporal": [], "provenance": 1},
        {"access": {"shared_with": [{"entity": "e", "permissions": ["read", "read"]}]}},
        {"access": {"shared_with": [{"entity": "", "permissions": []}]}, "metadata": 7},
        {"confidence": {"current": 1, "last_reinforced": "soon", "decay_model": None}},
        {"temporal": {"updated_at": "2020-01-01T00:00:00Z", "superseded_by": "nobody", "valid_until": 3}},
        {"temporal": {"valid_from": "2026-05-01T00:00:00Z", "valid_until": "2026-04-01T00:00:00Z"}},
        {"provenance": {"platform": "?", "extraction_method": "magic", "extractor": "x", "message_ref": 1}},
        {"metadata": {"language": "Englisch", "domain": 1, "more": {"a": None}, "none": None, OWN_KEY: 1}},
        {"metadata": {"big": 2**60}},
        {"relations": [{"id": "r", "from": "a", "to": "b", "type": "supports", "created_at": AT}]},
        {"relations": [{"id": "r", "from": "a", "to": "a", "type": "?", "created_at": AT}, 1]},
        {"owner": {"did": "x", "created_at": []}},
    ],
)
def test_what_the_format_does_not_take_is_left_out_and_still_preserved(
    said: dict[str, Any], tmp_path: Path
) -> None:
    memory = Memory(id="a", source="pam", kind="fact", text="Tea", about="c", at=AT, extra=said)

    assert [memory] == [replace(item, origin=None) for item in back(tmp_path, memory)]
    assert [] == bundle_errors(files_of(tmp_path / "bundle"))


def test_a_kind_of_its_own_stays_one_whatever_its_word(tmp_path: Path) -> None:
    memory = Memory(id="a", source="x1", kind="ritual", text="Tea", at=AT)
    store = bundled(memory).store
    store["memories"][0] |= {"custom_type": "fact", "metadata": {}}
    (tmp_path / "memory-store.json").write_text(json.dumps(store), encoding="utf-8")
    (read,) = read_all([str(tmp_path)], Notes())
    (again,) = bundled(read).store["memories"]

    assert ("custom", "fact") == (again["type"], again["custom_type"])


def test_ids_of_two_stores_that_meet_relate_nothing() -> None:
    bond = {"id": "r", "from": "a", "to": "b", "type": "supports", "created_at": AT}
    owner = Memory(id="o", source="pam", kind="identity", text="O", extra={"relations": [bond]})
    memories = [Memory(id=name, source="pam", kind="fact", text=name) for name in ("a", "b")]

    assert [bond] == bundled(owner, *memories).store["relations"]
    assert [] == bundled(owner, *memories, *memories).store["relations"]


def test_an_identity_in_a_conversation_is_not_that_of_an_account_of_that_name() -> None:
    said = {"provenance": {"platform": "claude"}}
    memory = Memory(id="a", source="pam", kind="identity", text="A nurse", about="c", extra=said)
    found = bundled(talk(source="pam"), memory).store

    assert found["memories"][0]["provenance"] == {"platform": "claude", "conversation_ref": "c"}
    assert found["owner"] == {"id": "unknown"}


def test_fields_of_other_sources_are_not_taken_for_those_of_the_format() -> None:
    said = {"status": "archived", "access": {"exportable": False}, "provenance": {"platform": "moon"}}
    (memory,) = bundled(Memory(id="a", source="x1", kind="fact", text="Tea", extra=said)).store["memories"]

    assert ("active", "x1") == (memory["status"], memory["provenance"]["platform"])


def test_a_memory_that_another_program_changed_is_read_as_it_is_now(tmp_path: Path) -> None:
    memory = Memory(id="a", source="x1", kind="fact", text="Tea", at=AT)
    write_items([memory], "pam", str(tmp_path / "bundle"), Notes())
    path = tmp_path / "bundle" / "memory-store.json"
    store = json.loads(path.read_bytes())

    def read_again() -> Memory:
        path.write_text(json.dumps(store), encoding="utf-8")
        (found,) = read_all([str(tmp_path / "bundle")], Notes())
        assert isinstance(found, Memory)
        return found

    store["memories"][0]["content"] = "Coffee"
    assert ("x1", "Coffee") == (read_again().source, read_again().text)
    store["memories"][0]["status"] = "archived"
    assert ("pam", "archived", "x1") == (
        read_again().source,
        read_again().extra["status"],
        read_again().extra["provenance"]["platform"],
    )
    (again,) = bundled(read_again()).store["memories"]
    assert ("archived", "x1") == (again["status"], again["provenance"]["platform"])
