"""What a memory store that was read says of its memories and of its owner, as far as it can be said again.

The format has fields for it that the model has not; the reader keeps them in `extra`. All of it is kept there
anyway: a value that the format would not take is not repeated.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from agent_journal.decoding.fields import objects
from agent_journal.writers.pam.values import (
    OURS,
    is_before,
    memory_moment,
    program,
    provider_name,
    stated,
    tags,
)

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from agent_journal.model import Bag, Memory

FORMAT = "pam"
"""The source of memories and conversations that other programs wrote in this format."""

_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Z][a-z]{3})?(-[A-Z]{2})?")
_DID = re.compile(r"did:[a-z0-9]+:.+")
_Name = Annotated[str, Meta(min_length=1)]
_Score = Annotated[float, Meta(ge=0, le=1)]
_Status = Literal["active", "superseded", "deprecated", "retracted", "archived"]
_Method = Literal["llm_inference", "explicit_user_input", "api_export", "browser_extraction", "manual"]
_Bond = Literal["supports", "contradicts", "extends", "supersedes", "related_to", "derived_from"]

_ENDS = {"start": "from", "end": "to"}


class _Confidence(Struct, forbid_unknown_fields=True, omit_defaults=True):
    initial: _Score | None = None
    current: _Score | None = None
    decay_model: Literal["time_linear", "time_exponential", "none"] | None = None
    last_reinforced: str | None = None


class _Grant(Struct, forbid_unknown_fields=True):
    entity: _Name
    permissions: Annotated[list[Literal["read", "write", "delete"]], Meta(min_length=1)]


class _Access(Struct, forbid_unknown_fields=True):
    visibility: Literal["private", "shared", "public"] = "private"
    exportable: bool = True
    shared_with: list[_Grant] = []


class _Relation(Struct, forbid_unknown_fields=True, omit_defaults=True, rename=_ENDS):
    id: _Name
    start: _Name
    end: _Name
    type: _Bond
    created_at: str
    confidence: _Score | None = None


def carried(memory: Memory) -> Bag:
    """The fields of a memory of another store; nothing of a memory from elsewhere."""
    return memory.extra if memory.source == FORMAT else {}


def must_stay(memory: Memory) -> bool:
    """Whether a memory says that it must not be exported."""
    return _bag(carried(memory), "access").get("exportable") is False


def members(memory: Memory, created_at: str, known: Container[str]) -> Bag:
    """A memory's status, times and what else is said of it; `known` are the memories that can be named."""
    said = carried(memory)
    found = {
        "status": _valid(said.get("status"), _Status) or "active",
        "tags": tags(tag for tag in _list(said.get("tags")) if isinstance(tag, str)),
        "summary": _valid(said.get("summary"), str),
        "confidence": _confidence(said.get("confidence")),
        "temporal": _temporal(_bag(said, "temporal"), created_at, known),
        "access": _access(said.get("access")),
    }
    return stated(found)


def _confidence(value: Any) -> Bag | None:
    found = _valid(value, _Confidence)
    if found is None:
        return None
    found.last_reinforced = memory_moment(found.last_reinforced)
    return _built(found)


def _access(value: Any) -> Bag | None:
    found = _valid(value, _Access)
    if found is None:
        return None
    for grant in found.shared_with:
        grant.permissions = [*dict.fromkeys(grant.permissions)]
    return _built(found)


def _temporal(said: Bag, created_at: str, known: Container[str]) -> Bag:
    """Times in their order; one that is not is left out."""
    updated, start, end = (_moment(said.get(name)) for name in ("updated_at", "valid_from", "valid_until"))
    by = said.get("superseded_by")
    found = {
        "created_at": created_at,
        "updated_at": _not_before(created_at, updated),
        "valid_from": start,
        "valid_until": _not_before(start, end),
        "superseded_by": by if isinstance(by, str) and by in known else None,
    }
    return stated(found)


def _not_before(start: str | None, at: str | None) -> str | None:
    return None if start is not None and at is not None and is_before(at, start) else at


def provenance(memory: Memory) -> Bag | None:
    """Where a memory of another store is from, as that says; None if it does not."""
    said = _bag(carried(memory), "provenance")
    platform = said.get("platform")
    if not isinstance(platform, str):
        return None
    extractor = said.get("extractor")
    found = {
        "platform": provider_name(platform),
        "message_ref": _valid(said.get("message_ref"), str),
        "extraction_method": _valid(said.get("extraction_method"), _Method),
        "extracted_at": _moment(said.get("extracted_at")),
        "extractor": program(extractor) if isinstance(extractor, str) else None,
    }
    return stated(found)


def metadata(memory: Memory) -> Bag:
    """What else is said of a memory, under names of any kind."""
    said = _bag(carried(memory), "metadata")
    found = {name: value for name, value in said.items() if value is not None and name != OURS}
    language, domain = found.get("language"), found.get("domain")
    if not isinstance(language, str) or not _LANGUAGE.fullmatch(language):
        found.pop("language", None)
    if not isinstance(domain, str):
        found.pop("domain", None)
    return found


def owner(memory: Memory) -> Bag:
    """What another store says of its owner beyond the id."""
    said = _bag(carried(memory), "owner")
    did = said.get("did")
    is_did = isinstance(did, str) and _DID.fullmatch(did)
    return stated({"did": did if is_did else None, "created_at": _moment(said.get("created_at"))})


def relations(memory: Memory, known: Container[str]) -> Iterator[Bag]:
    """How memories of another store stand to each other, if both can be named."""
    for each in objects(carried(memory).get("relations")):
        found = _valid(each, _Relation)
        if found is None or found.start not in known or found.end not in known:
            continue
        at = memory_moment(found.created_at)
        if at is not None:
            found.created_at = at
            yield _built(found)


def _valid(value: Any, form: Any) -> Any:
    """A value if the format takes it, else None."""
    try:
        return msgspec.convert(value, form)
    except msgspec.ValidationError:
        return None


def _built(found: Struct) -> Bag:
    """Of nothing but what JSON has, as checksums need it."""
    built: Bag = msgspec.to_builtins(found)
    return built


def _moment(value: Any) -> str | None:
    return memory_moment(value) if isinstance(value, str) else None


def _bag(said: Bag, name: str) -> Bag:
    value = said.get(name)
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
