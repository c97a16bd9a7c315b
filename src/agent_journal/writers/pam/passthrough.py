"""Passes through the fields of memories and their owner from a memory store that was read.

PAM has fields that the model lacks; the reader stores them in `extra`. Valid ones are written as PAM fields
again, and all of them as part of `extra`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from agent_journal.decoding.fields import objects
from agent_journal.writers.pam.values import (
    OWN_KEY,
    is_before,
    memory_timestamp,
    program,
    provider_name,
    tags,
    without_nulls,
)

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from agent_journal.model import Bag, Memory

FORMAT = "pam"
"""The source name of memories and conversations that other programs wrote in this format."""

_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Z][a-z]{3})?(-[A-Z]{2})?")
_DID = re.compile(r"did:[a-z0-9]+:.+")
_Name = Annotated[str, Meta(min_length=1)]
_Score = Annotated[float, Meta(ge=0, le=1)]
_Status = Literal["active", "superseded", "deprecated", "retracted", "archived"]
_Method = Literal["llm_inference", "explicit_user_input", "api_export", "browser_extraction", "manual"]
_RelationType = Literal["supports", "contradicts", "extends", "supersedes", "related_to", "derived_from"]

_RELATION_FIELDS = {"start": "from", "end": "to"}


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


class _Relation(Struct, forbid_unknown_fields=True, omit_defaults=True, rename=_RELATION_FIELDS):
    id: _Name
    start: _Name
    end: _Name
    type: _RelationType
    created_at: str
    confidence: _Score | None = None


def passthrough_fields(memory: Memory) -> Bag:
    """The PAM fields of a memory that was read from another store; else empty."""
    return memory.extra if memory.source == FORMAT else {}


def is_not_exportable(memory: Memory) -> bool:
    """Whether a memory is marked as not exportable."""
    return _object(passthrough_fields(memory), "access").get("exportable") is False


def memory_fields(memory: Memory, created_at: str, known_ids: Container[str]) -> Bag:
    """The status, times and other fields of a memory; it may refer to the memories in `known_ids`."""
    stored = passthrough_fields(memory)
    values = {
        "status": _valid(stored.get("status"), _Status) or "active",
        "tags": tags(tag for tag in _list(stored.get("tags")) if isinstance(tag, str)),
        "summary": _valid(stored.get("summary"), str),
        "confidence": _confidence(stored.get("confidence")),
        "temporal": _temporal(_object(stored, "temporal"), created_at, known_ids),
        "access": _access(stored.get("access")),
    }
    return without_nulls(values)


def _confidence(value: Any) -> Bag | None:
    confidence = _valid(value, _Confidence)
    if confidence is None:
        return None
    confidence.last_reinforced = memory_timestamp(confidence.last_reinforced)
    return _to_plain(confidence)


def _access(value: Any) -> Bag | None:
    access = _valid(value, _Access)
    if access is None:
        return None
    for grant in access.shared_with:
        grant.permissions = [*dict.fromkeys(grant.permissions)]
    return _to_plain(access)


def _temporal(stored: Bag, created_at: str, known_ids: Container[str]) -> Bag:
    """The times of a memory; a time that is out of order is omitted."""
    updated, start, end = (
        _timestamp(stored.get(name)) for name in ("updated_at", "valid_from", "valid_until")
    )
    successor = stored.get("superseded_by")
    values = {
        "created_at": created_at,
        "updated_at": _not_before(created_at, updated),
        "valid_from": start,
        "valid_until": _not_before(start, end),
        "superseded_by": successor if isinstance(successor, str) and successor in known_ids else None,
    }
    return without_nulls(values)


def _not_before(start: str | None, at: str | None) -> str | None:
    return None if start is not None and at is not None and is_before(at, start) else at


def provenance(memory: Memory) -> Bag | None:
    """The provenance of a memory of another store; None if it has none."""
    stored = _object(passthrough_fields(memory), "provenance")
    platform = stored.get("platform")
    if not isinstance(platform, str):
        return None
    extractor = stored.get("extractor")
    values = {
        "platform": provider_name(platform),
        "message_ref": _valid(stored.get("message_ref"), str),
        "extraction_method": _valid(stored.get("extraction_method"), _Method),
        "extracted_at": _timestamp(stored.get("extracted_at")),
        "extractor": program(extractor) if isinstance(extractor, str) else None,
    }
    return without_nulls(values)


def metadata(memory: Memory) -> Bag:
    """The metadata of a memory, with valid values only."""
    stored = _object(passthrough_fields(memory), "metadata")
    values = {name: value for name, value in stored.items() if value is not None and name != OWN_KEY}
    language, domain = values.get("language"), values.get("domain")
    if not isinstance(language, str) or not _LANGUAGE.fullmatch(language):
        values.pop("language", None)
    if not isinstance(domain, str):
        values.pop("domain", None)
    return values


def owner(memory: Memory) -> Bag:
    """The fields of another store's owner, except the id."""
    stored = _object(passthrough_fields(memory), "owner")
    did = stored.get("did")
    is_did = isinstance(did, str) and _DID.fullmatch(did)
    return without_nulls({"did": did if is_did else None, "created_at": _timestamp(stored.get("created_at"))})


def relations(memory: Memory, known_ids: Container[str]) -> Iterator[Bag]:
    """The relations of a memory of another store, if both ends are known."""
    for item in objects(passthrough_fields(memory).get("relations")):
        relation = _valid(item, _Relation)
        if relation is None or relation.start not in known_ids or relation.end not in known_ids:
            continue
        created_at = memory_timestamp(relation.created_at)
        if created_at is not None:
            relation.created_at = created_at
            yield _to_plain(relation)


def _valid(value: Any, form: Any) -> Any:
    """The value as an instance of `form` if it is valid, else None."""
    try:
        return msgspec.convert(value, form)
    except msgspec.ValidationError:
        return None


def _to_plain(value: Struct) -> Bag:
    """The value as plain JSON types, which checksums need."""
    plain: Bag = msgspec.to_builtins(value)
    return plain


def _timestamp(value: Any) -> str | None:
    return memory_timestamp(value) if isinstance(value, str) else None


def _object(values: Bag, name: str) -> Bag:
    item = values.get(name)
    return item if isinstance(item, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
