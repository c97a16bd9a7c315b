"""One call, from all its rows: what was sent, what came back, how long it took, what it cost in tokens."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from agent_journal import times
from agent_journal.fields import Fields
from agent_journal.model import Usage
from agent_journal.notes import Kind
from agent_journal.readers._api_calls.answer import NOTHING, Answer, answer
from agent_journal.readers._api_calls.detection import dialect_of
from agent_journal.readers._api_calls.exchange import (
    Exchange,
    Sent,
    begun,
    messages,
    offered,
    take_repeated,
)
from agent_journal.readers.azure_openai import bodies
from agent_journal.readers.azure_openai.columns import Row, glance
from agent_journal.readers.azure_openai.names import (
    CORRELATION,
    DEPLOYMENT,
    DIAGNOSED_DEPLOYMENT,
    REQUEST_BODIES,
    REQUEST_SIDE,
    RESPONSE_BODIES,
    RESPONSE_SIDE,
    SEQUENCE,
    TIMES,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.model import Bag
    from agent_journal.notes import Notes
    from agent_journal.readers.azure_openai.rows import Placed

_DURATIONS = ("durationms", "totaltime")
_TOKENS = ("prompttokens", "completiontokens", "totaltokens")
_IDS = ("requestid", "apimrequestid", CORRELATION)
_ERRORS = ("lasterrormessage", "lasterrorreason")
_URL = re.compile(r"/deployments/(?P<deployment>[^/?#]+)|[?&]api-version=(?P<version>[^&#]+)")


class Facts(NamedTuple):
    """What a call says about the service, beside what was said in it."""

    deployment: str | None
    api_version: str | None
    account_id: str | None
    resource: str | None


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
        return bool(exchange.system or exchange.prompt or exchange.answer.replies)


def calls_of(placed: list[Placed], index: int, note: Notes) -> Iterator[Call]:
    """The calls that rows with one correlation id tell of: one, unless several bodies were logged."""
    rows = [Row(row, note) for row in _in_sequence(placed, note)]
    sides = any(row.has(REQUEST_SIDE) or row.has(RESPONSE_SIDE) for row in rows)
    if sides or max(_count(rows, REQUEST_BODIES), _count(rows, RESPONSE_BODIES)) <= 1:
        yield _call(rows, index, has_sides=sides)
        return
    for place, row in enumerate(rows):
        yield _call([row], index + place, has_sides=False)


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
    value = glance(row.values, SEQUENCE)
    if value.__class__ is str and value.isascii() and value.isdigit():
        value = int(value[:9])
    return (False, value) if value.__class__ is int else (True, 0)


def _call(rows: list[Row], index: int, *, has_sides: bool) -> Call:
    first = rows[0]
    at, ended_at = _times(rows)
    duration_name, duration_ms = _duration(rows)
    request, response = _sides(rows) if has_sides else _bodies(rows)
    facts = _facts(rows, request.value)
    asked = Fields(request.value or {}, first.note, first.where)
    if facts.deployment is not None and asked.look("model") == facts.deployment:
        asked.drop("model")
    dialect = dialect_of({"request": asked.rest(), "response": response.value})
    answered = _answered(rows, response, has_sides=has_sides)
    take_repeated(answered, asked)
    system, prompt = messages(asked, dialect) if request.value else ([], [])
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
        error=answered.error or _told(rows, _ERRORS),
        extra={},
        after=after,
        session=session,
        ended_at=ended_at,
    )
    name = next((name for row in rows if isinstance(name := row.look("operationname"), str)), None)
    for row in rows:
        row.whole(SEQUENCE)
    exchange.extra.update(_rest(rows))
    _keep_sides(exchange.extra, asked, answered, request, response)
    return Call(exchange, facts, name)


def _in_place(sent: Sent) -> Sent:
    """A system prompt is known by its place like any other message."""
    return sent if sent.place < 0 else sent._replace(tail=str(sent.place))


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
            if told is None or row.look(name) == told:
                told = row.text(name) or told
                if told is not None:
                    break
    return told


def _id(rows: list[Row]) -> str | None:
    return next((found for name in _IDS if (found := _told(rows, (name,))) is not None), None)


def _times(rows: list[Row]) -> tuple[str | None, str | None]:
    """When a call began, and when its answer was there, if that is stated: by itself, or by its last row.

    Another time that a row states stays with it.
    """
    stated = next((at for row in rows if (at := row.moment(("responsetimestamp",)))), None)
    if len(rows) == 1:
        at = rows[0].moment(TIMES)
        return at, stated or (at if rows[0].has(RESPONSE_SIDE) else None)
    moments = [row.when(TIMES) for row in rows]
    began = _ordered(moments)[:1]
    answers = [at for row, at in zip(rows, moments, strict=True) if row.has(RESPONSE_SIDE)]
    ended = [stated] if stated else _ordered(answers)[-1:]
    for row, at in zip(rows, moments, strict=True):
        if at is None or at in began or at in ended:
            row.moment(TIMES)
    return began[0] if began else None, ended[0] if ended else None


def _ordered(moments: list[str | None]) -> list[str]:
    """The different moments, in their order."""
    known = [at for at in dict.fromkeys(moments) if at is not None]
    return known if len(known) == 1 else sorted(known, key=lambda at: times.epoch_ms(at) or 0)


def _duration(rows: list[Row]) -> tuple[str, int | float | None]:
    """How long a call took, and what the log calls that."""
    for name in _DURATIONS:
        for row in rows:
            column = row.column(name)
            if (found := row.number(name)) is not None:
                return column, found
    return "", None


def _sides(rows: list[Row]) -> tuple[bodies.Side, bodies.Side]:
    """What the rows of the gateway's log for language models hold of the two sides."""
    found: list[bodies.Side] = []
    for name in (REQUEST_SIDE, RESPONSE_SIDE):
        having = [row for row in rows if row.has(name)]
        pieces = [row.take(name) for row in having]
        found.append(bodies.messages(pieces, rows[0].note, having[0].where) if having else bodies.NOTHING)
    request, response = found
    return request._replace(value=None if request.value is None else {"messages": request.value}), response


def _bodies(rows: list[Row]) -> tuple[bodies.Side, bodies.Side]:
    """The bodies; where the gateway logs what the service got as well, that stays."""
    found: list[bodies.Side] = []
    for names in (REQUEST_BODIES, RESPONSE_BODIES):
        having = next(((row, name) for name in names for row in rows if row.has(name)), None)
        if having is None:
            found.append(bodies.NOTHING)
        else:
            row, name = having
            found.append(bodies.body(row.take(name), row.note, row.where))
    return found[0], found[1]


def _answered(rows: list[Row], response: bodies.Side, *, has_sides: bool) -> Answer:
    """What came back. Counts of a call whose answer was not logged stay with its other metadata."""
    first, value = rows[0], response.value
    if has_sides and value:
        value = value[0] if _is_answer(value) else {"choices": [_choice(message) for message in value]}
    found = answer(value, first.note, first.where) if value else NOTHING
    if not found.replies:
        return found
    usage = found.usage or _usage(rows)
    return found._replace(usage=usage, model=_told(rows, ("modelname",)) or found.model)


def _is_answer(value: list[Any]) -> bool:
    """Whether the log has the whole body of the response in place of its messages."""
    return len(value) == 1 and value[0].__class__ is dict and "choices" in value[0]


def _choice(message: Any) -> Any:
    return {"message": message} if message.__class__ is dict else message


def _usage(rows: list[Row]) -> Usage | None:
    """The gateway's counts, which stand in one row of a call."""
    for row in rows:
        prompt, completion, total = (row.whole(name) for name in _TOKENS)
        if prompt is not None or completion is not None or total is not None:
            return Usage(input=prompt, output=completion, total=total)
    return None


def _facts(rows: list[Row], request: Any) -> Facts:
    deployment = _told(rows, (DEPLOYMENT, DIAGNOSED_DEPLOYMENT))
    version = _told(rows, ("apiversion",))
    urls = (row.look(name) for row in rows for name in ("url", "backendurl"))
    for url in urls:
        for part in _URL.finditer(url) if isinstance(url, str) else ():
            deployment = deployment or part["deployment"]
            version = version or part["version"]
    if deployment is None and request.__class__ is dict and isinstance(request.get("model"), str):
        deployment = request["model"] or None
    resources = (row.look("resourceid") for row in rows)
    resource = next((each for each in resources if isinstance(each, str)), None)
    return Facts(deployment, version, _told(rows, ("apimsubscriptionid",)), resource)


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
