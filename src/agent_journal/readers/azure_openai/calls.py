"""One call, from all its rows: what was sent, what came back, how long it took, what it cost in tokens."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from agent_journal.decoding.fields import Fields
from agent_journal.model import Usage, timestamps
from agent_journal.notes import Kind
from agent_journal.readers.azure_openai import bodies
from agent_journal.readers.azure_openai.columns import Row, glance, layout
from agent_journal.readers.azure_openai.fastpath import Pieces, joined
from agent_journal.readers.azure_openai.names import (
    CORRELATION,
    DEPLOYMENT,
    DIAGNOSED_DEPLOYMENT,
    DURATIONS,
    ERRORS,
    MODEL,
    OWN_DEPLOYMENTS,
    REQUEST_BODIES,
    REQUEST_SIDE,
    RESPONSE_BODIES,
    RESPONSE_SIDE,
    RESPONSE_TIME,
    SEQUENCE,
    SUBSCRIPTION,
    TIMES,
    TOKENS,
    VERSION,
)
from agent_journal.readers.dialects.api_calls.answer import NOTHING, Answer, answer
from agent_journal.readers.dialects.api_calls.detection import dialect_of
from agent_journal.readers.dialects.api_calls.exchange import (
    Exchange,
    Prompt,
    Sent,
    begun,
    messages,
    offered,
    take_repeated,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.model import Bag
    from agent_journal.notes import Notes
    from agent_journal.readers.azure_openai.rows import Placed

_IDS = ("requestid", "apimrequestid", CORRELATION)
_URLS = ("url", "backendurl", "requesturl")
# Since August 2025 the model that a request to this path names is the deployment.
_PATH_OF_VERSION_1 = "/openai/v1/"
_URL = re.compile(r"/deployments/(?P<deployment>[^/?#]+)|[?&]api-version=(?P<version>[^&#]+)")


class Facts(NamedTuple):
    """What a call says about the service, beside what was said in it."""

    deployment: str | None
    api_version: str | None
    account_id: str | None
    resource: str | None
    columns: Bag
    """The version and the account again, under the names that the log has for them."""
    is_deployment_stated: bool = True
    """Whether the log itself names the deployment."""

    def beside(self, extra: Bag, api_version: str | None, account_id: str | None) -> Bag:
        """What else a call says, with what of these its conversation has from another call."""
        unlike = [pair for pair in self.columns.items() if pair[1] not in (api_version, account_id)]
        if not unlike:
            return extra
        kept = dict(extra)
        for column, value in unlike:
            _keep(kept, column, value)
        return kept


class Call(NamedTuple):
    """An exchange and the facts about it. One without messages is known by its metadata alone."""

    exchange: Exchange
    facts: Facts
    name: str | None
    """What the service calls the operation."""

    @property
    def has_messages(self) -> bool:
        """Whether the log says what was sent or came back."""
        exchange = self.exchange
        return bool(exchange.system or exchange.prompt.messages or exchange.answer.replies)


class Sides(NamedTuple):
    """The pieces of the two sides of a call, and the rows that the answer is from."""

    request: Pieces | None
    response: Pieces | None
    answering: list[Row]


def calls_of(placed: list[Placed], index: int, note: Notes) -> Iterator[Call]:
    """The calls that rows with one correlation id tell of: one, unless several bodies were logged."""
    found = _in_sequence(placed, note)
    if len(found) > 1 and (usual := joined(found)) is not None:
        row = Row(usual.row, note)
        yield _call([row], index, Sides(usual.request, usual.response, [row] if usual.response else []))
        return
    rows = [Row(row, note) for row in found]
    sides = _sides(rows)
    if sides or len(rows) == 1 or max(_count(rows, REQUEST_BODIES), _count(rows, RESPONSE_BODIES)) <= 1:
        yield _call(rows, index, sides)
        return
    for place, row in enumerate(rows):
        yield _call([row], index + place, None)


def _count(rows: list[Row], names: tuple[str, ...]) -> int:
    return sum(any(row.has(name) for name in names) for row in rows)


def _in_sequence(placed: list[Placed], note: Notes) -> list[Placed]:
    """Rows by their sequence number, those without one behind; one that is there twice counts once."""
    if len(placed) == 1:
        return placed
    numbered = sorted(placed, key=_sequence)
    found: list[Placed] = []
    for row in numbered:
        if found and row.values == found[-1].values:
            note(Kind.REPEATED_RECORD, row.where, "the same row as another of the call")
        else:
            found.append(row)
    return found


def _sequence(row: Placed) -> tuple[bool, int]:
    known = layout(tuple(row.values))
    if known.is_nested:
        value = glance(row.values, known.columns, SEQUENCE)
    else:
        value = row.values[known.sequence[0]] if known.sequence else None
    if value.__class__ is str and value.isascii() and value.isdigit():
        value = int(value[:9])
    return (False, value) if value.__class__ is int else (True, 0)


def _call(rows: list[Row], index: int, sides: Sides | None) -> Call:
    first, has_sides = rows[0], sides is not None
    at, ended_at = _times(rows, [] if sides is None else sides.answering)
    duration_name, duration_ms = _duration(rows)
    request, response = _bodies(rows) if sides is None else _messages(sides, first.note)
    facts = _facts(rows, request.value)
    asked = Fields(request.value or {}, first.note, first.where)
    if facts.deployment is not None and asked.look("model") == facts.deployment:
        asked.drop("model")
    dialect = dialect_of({"request": asked.rest(), "response": response.value})
    answered = _answered(rows, response, has_sides=has_sides)
    take_repeated(answered, asked)
    system, prompt = messages(asked, dialect) if request.value else ([], Prompt([]))
    after, session = begun(asked, answered, dialect)
    if duration_ms is not None and answered.replies:
        # Several replies are choices, which took the same time, or a chain, at whose end it is known.
        answered.replies[-1 if answered.is_chain else 0].said.extra[duration_name] = duration_ms
    exchange = Exchange(
        index=index,
        where=first.where,
        dialect=dialect,
        id=_told(rows, (CORRELATION,)) if has_sides else _id(rows),
        at=at,
        duration_ms=duration_ms,
        model=facts.deployment,
        system=[_in_place(sent) for sent in system],
        prompt=prompt,
        tools=offered(asked, dialect),
        answer=answered,
        error=answered.error or _told(rows, ERRORS),
        extra={},
        after=after,
        session=session,
        ended_at=ended_at,
    )
    name = _seen(rows, "operationname")
    for row in rows:
        row.whole(SEQUENCE)
    exchange.extra.update(_rest(rows))
    _keep_sides(exchange.extra, asked, answered, request, response)
    return Call(exchange, facts, name)


def _in_place(sent: Sent) -> Sent:
    """A system prompt is known by its place like any other message."""
    return sent if sent.place < 0 else Sent(sent.place, sent.raw, sent.dialect, str(sent.place))


def _keep_sides(
    extra: Bag, asked: Fields, answered: Answer, request: bodies.Side, response: bodies.Side
) -> None:
    """Keep what else the request and the response say, and the texts that could not be read whole."""
    _keep(extra, "request", asked.rest() or None)
    _keep(extra, "request_text", request.left)
    _keep(extra, "response", answered.extra or None)
    _keep(extra, "response_text", response.left)


def _keep(extra: Bag, name: str, value: Any) -> None:
    """Put a value beside the columns; a column of that name stays."""
    if value is not None:
        while name in extra:
            name += "_"
        extra[name] = value


def _told(rows: list[Row], names: tuple[str, ...]) -> str | None:
    """The first text that one of the columns has; another one in a later row stays there."""
    told: str | None = None
    for row in rows:
        for name in names:
            value = row.look(name)
            if value is not None and (told is None or value == told):
                told = row.text(name) or told
                if told is not None:
                    break
    return told


def _id(rows: list[Row]) -> str | None:
    for name in _IDS:
        if (found := _told(rows, (name,))) is not None:
            return found
    return None


def _times(rows: list[Row], answering: list[Row]) -> tuple[str | None, str | None]:
    """When a call began, and when its answer was there, if that is stated: by itself, or by its last row.

    Another time that a row states stays with it.
    """
    stated = next((at for row in rows if (at := row.moment((RESPONSE_TIME,)))), None)
    if len(rows) == 1:
        at = rows[0].moment(TIMES)
        return at, stated or (at if answering else None)
    moments = [row.when(TIMES) for row in rows]
    began = _ordered(moments)[:1]
    answers = [at for row, at in zip(rows, moments, strict=True) if row in answering]
    ended = [stated] if stated else _ordered(answers)[-1:]
    for row, at in zip(rows, moments, strict=True):
        if at is None or at in began or at in ended:
            row.moment(TIMES)
    return began[0] if began else None, ended[0] if ended else None


def _ordered(moments: list[str | None]) -> list[str]:
    """The different moments, in their order."""
    known = [at for at in dict.fromkeys(moments) if at is not None]
    return known if len(known) == 1 else sorted(known, key=lambda at: timestamps.epoch_ms(at) or 0)


def _duration(rows: list[Row]) -> tuple[str, int | float | None]:
    """How long a call took, and what the log calls that."""
    for name in DURATIONS:
        for row in rows:
            column = row.column(name)
            if column is not None and (found := row.number(name)) is not None:
                return column, found
    return "", None


def _sides(rows: list[Row]) -> Sides | None:
    """What the rows of the gateway's log for language models hold of the two sides, moved out of them."""
    asking, answering = ([row for row in rows if row.has(name)] for name in (REQUEST_SIDE, RESPONSE_SIDE))
    if not asking and not answering:
        return None
    return Sides(_pieces(asking, REQUEST_SIDE), _pieces(answering, RESPONSE_SIDE), answering)


def _pieces(having: list[Row], name: str) -> Pieces | None:
    return Pieces([row.take(name) for row in having], having[0].where) if having else None


def _messages(sides: Sides, note: Notes) -> tuple[bodies.Side, bodies.Side]:
    """The messages that the two sides hold, those of the request as its body."""
    request = bodies.NOTHING
    if sides.request is not None:
        sent, left = _side(sides.request, note)
        request = bodies.Side({"input" if bodies.are_items(sent) else "messages": sent}, left)
    return request, _side(sides.response, note) if sides.response else bodies.NOTHING


def _side(pieces: Pieces, note: Notes) -> bodies.Side:
    return bodies.messages(pieces.values, note, pieces.where)


def _bodies(rows: list[Row]) -> tuple[bodies.Side, bodies.Side]:
    """The bodies; where the gateway logs what the service got as well, that stays."""
    found: list[bodies.Side] = []
    for names in (REQUEST_BODIES, RESPONSE_BODIES):
        having = _having(rows, names)
        if having is None:
            found.append(bodies.NOTHING)
        else:
            row, name = having
            found.append(bodies.body(row.take(name), row.note, row.where))
    return found[0], found[1]


def _having(rows: list[Row], names: tuple[str, ...]) -> tuple[Row, str] | None:
    """The first of some columns that a row has."""
    for name in names:
        for row in rows:
            if row.has(name):
                return row, name
    return None


def _answered(rows: list[Row], response: bodies.Side, *, has_sides: bool) -> Answer:
    """What came back. Counts of a call whose answer was not logged stay with its other metadata."""
    first, value = rows[0], response.value
    if has_sides and value:
        value = value[0] if _is_answer(value) else _body_of(value)
    found = answer(value, first.note, first.where) if value else NOTHING
    if not found.replies:
        return found
    usage = found.usage or _usage(rows)
    return replace(found, usage=usage, model=_told(rows, (MODEL,)) or found.model)


def _is_answer(value: list[Any]) -> bool:
    """Whether the log has the whole body of the response in place of its messages."""
    only = value[0] if len(value) == 1 and value[0].__class__ is dict else {}
    return "choices" in only or only.get("output").__class__ is list


def _body_of(said: list[Any]) -> Bag:
    """The body that what was answered was in: choices, or the items of the Responses API."""
    if bodies.are_items(said):
        return {"output": said}
    return {"choices": [_choice(message) for message in said]}


def _choice(message: Any) -> Any:
    return {"message": message} if message.__class__ is dict else message


def _usage(rows: list[Row]) -> Usage | None:
    """The gateway's counts, which stand in one row of a call."""
    for row in rows:
        prompt, completion, total = (row.whole(name) for name in TOKENS)
        if prompt is not None or completion is not None or total is not None:
            return Usage(input=prompt, output=completion, total=total)
    return None


def _facts(rows: list[Row], request: Any) -> Facts:
    deployment = _told(rows, (DEPLOYMENT, DIAGNOSED_DEPLOYMENT, *OWN_DEPLOYMENTS))
    versions, accounts = _stated(rows, VERSION), _stated(rows, SUBSCRIPTION)
    version, account = (next(iter(stated.values()), None) for stated in (versions, accounts))
    is_version_1 = False
    for row in rows:
        for name in _URLS:
            url = row.look(name)
            is_version_1 = is_version_1 or (isinstance(url, str) and _PATH_OF_VERSION_1 in url)
            for part in _URL.finditer(url) if isinstance(url, str) else ():
                deployment = deployment or part["deployment"]
                version = version or part["version"]
    is_stated = deployment is not None or is_version_1
    if deployment is None and request.__class__ is dict and isinstance(request.get("model"), str):
        deployment = request["model"] or None
    return Facts(deployment, version, account, _seen(rows, "resourceid"), versions | accounts, is_stated)


def _stated(rows: list[Row], name: str) -> Bag:
    """What the rows say in a column, under their own name for it; nothing if they do not say it."""
    column = next((column for row in rows if (column := row.column(name)) is not None), name)
    value = _told(rows, (name,))
    return {} if value is None else {column: value}


def _seen(rows: list[Row], name: str) -> str | None:
    """The first text in a column, which stays."""
    for row in rows:
        value = row.look(name)
        if isinstance(value, str):
            return value
    return None


def _rest(rows: list[Row]) -> Bag:
    """What else the rows say: what the first one has that says it, and where others differ, that by row."""
    merged = rows[0].rest()
    differing: list[Bag] = []
    for row in rows[1:]:
        differs: Bag = {}
        for name, value in row.rest().items():
            if merged.setdefault(name, value) != value:
                differs[name] = value
        if differs:
            differing.append(differs)
    _keep(merged, "rows", differing or None)
    return merged
