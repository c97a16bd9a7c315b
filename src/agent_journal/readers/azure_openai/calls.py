"""Builds a call from all its rows: its request, its answer, its duration, and its token counts."""

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
from agent_journal.readers.dialects.api_calls.answer import NO_ANSWER, Answer, parse_answer
from agent_journal.readers.dialects.api_calls.detection import detect_dialect
from agent_journal.readers.dialects.api_calls.exchange import (
    Exchange,
    Prompt,
    Sent,
    find_continued,
    take_messages,
    take_repeated,
    take_tools,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.model import Bag
    from agent_journal.notes import Notes
    from agent_journal.readers.azure_openai.rows import LocatedRow

_IDS = ("requestid", "apimrequestid", CORRELATION)
_URLS = ("url", "backendurl", "requesturl")
# Since August 2025 the `model` of a request to this path is the deployment.
_VERSION_1_PATH = "/openai/v1/"
_URL = re.compile(r"/deployments/(?P<deployment>[^/?#]+)|[?&]api-version=(?P<version>[^&#]+)")


class Facts(NamedTuple):
    """The facts about the service that a call states, apart from its messages."""

    deployment: str | None
    api_version: str | None
    account_id: str | None
    resource: str | None
    columns: Bag
    """The version and the account under the log's own column names."""
    is_deployment_stated: bool = True
    """Whether the log itself states the deployment."""

    def with_differences(self, extra: Bag, api_version: str | None, account_id: str | None) -> Bag:
        """Return `extra` with the version and account if they differ from the conversation's."""
        differing = [pair for pair in self.columns.items() if pair[1] not in (api_version, account_id)]
        if not differing:
            return extra
        result = dict(extra)
        for column, value in differing:
            _store(result, column, value)
        return result


class Call(NamedTuple):
    """An exchange and the facts about it. If it has no messages, only its metadata was logged."""

    exchange: Exchange
    facts: Facts
    name: str | None
    """The service's name of the operation."""

    @property
    def has_messages(self) -> bool:
        """Whether the log has any messages of the request or the answer."""
        exchange = self.exchange
        return bool(exchange.system or exchange.prompt.messages or exchange.answer.replies)


class Sides(NamedTuple):
    """The pieces of the request and the response of a call, and the rows of the answer."""

    request: Pieces | None
    response: Pieces | None
    answer_rows: list[Row]


def calls_of(placed: list[LocatedRow], index: int, note: Notes) -> Iterator[Call]:
    """Yield the calls of the rows with one correlation id: one, unless several bodies were logged."""
    distinct_rows = _in_sequence(placed, note)
    if len(distinct_rows) > 1 and (combined := joined(distinct_rows)) is not None:
        row = Row(combined.row, note)
        yield _call(
            [row], index, Sides(combined.request, combined.response, [row] if combined.response else [])
        )
        return
    rows = [Row(row, note) for row in distinct_rows]
    sides = _sides(rows)
    if sides or len(rows) == 1 or max(_count(rows, REQUEST_BODIES), _count(rows, RESPONSE_BODIES)) <= 1:
        yield _call(rows, index, sides)
        return
    for offset, row in enumerate(rows):
        yield _call([row], index + offset, None)


def _count(rows: list[Row], names: tuple[str, ...]) -> int:
    return sum(any(row.has(name) for name in names) for row in rows)


def _in_sequence(placed: list[LocatedRow], note: Notes) -> list[LocatedRow]:
    """Sort rows by sequence number, rows without one last; drop repeated rows."""
    if len(placed) == 1:
        return placed
    numbered = sorted(placed, key=_sequence)
    distinct_rows: list[LocatedRow] = []
    for row in numbered:
        if distinct_rows and row.values == distinct_rows[-1].values:
            note(Kind.REPEATED_RECORD, row.location, "the same row as another of the call")
        else:
            distinct_rows.append(row)
    return distinct_rows


def _sequence(row: LocatedRow) -> tuple[bool, int]:
    row_layout = layout(tuple(row.values))
    if row_layout.is_nested:
        value = glance(row.values, row_layout.columns, SEQUENCE)
    else:
        value = row.values[row_layout.sequence[0]] if row_layout.sequence else None
    if value.__class__ is str and value.isascii() and value.isdigit():
        value = int(value[:9])
    return (False, value) if value.__class__ is int else (True, 0)


def _call(rows: list[Row], index: int, sides: Sides | None) -> Call:
    first, has_sides = rows[0], sides is not None
    at, ended_at = _times(rows, [] if sides is None else sides.answer_rows)
    duration_name, duration_ms = _duration(rows)
    request, response = _bodies(rows) if sides is None else _messages(sides, first.note)
    facts = _facts(rows, request.value)
    request_fields = Fields(request.value or {}, first.note, first.where)
    if facts.deployment is not None and request_fields.view("model") == facts.deployment:
        request_fields.drop("model")
    dialect = detect_dialect({"request": request_fields.rest(), "response": response.value})
    answer = _parse_answer(rows, response, has_sides=has_sides)
    take_repeated(answer, request_fields)
    system, prompt = take_messages(request_fields, dialect) if request.value else ([], Prompt([]))
    after, session = find_continued(request_fields, answer, dialect)
    if duration_ms is not None and answer.replies:
        # Several replies are choices, which all took this time, or a chain, which took it in total.
        answer.replies[-1 if answer.is_chain else 0].message.extra[duration_name] = duration_ms
    exchange = Exchange(
        index=index,
        location=first.where,
        dialect=dialect,
        id=_take_text(rows, (CORRELATION,)) if has_sides else _take_id(rows),
        at=at,
        duration_ms=duration_ms,
        model=facts.deployment,
        system=[_with_index_as_tail(sent) for sent in system],
        prompt=prompt,
        tools=take_tools(request_fields, dialect),
        answer=answer,
        error=answer.error or _take_text(rows, ERRORS),
        extra={},
        after=after,
        session=session,
        ended_at=ended_at,
    )
    name = _first_text(rows, "operationname")
    for row in rows:
        row.whole(SEQUENCE)
    exchange.extra.update(_rest(rows))
    _store_sides(exchange.extra, request_fields, answer, request, response)
    return Call(exchange, facts, name)


def _with_index_as_tail(sent: Sent) -> Sent:
    """Identify a system prompt among the messages by its index, like any other message."""
    return sent if sent.place < 0 else Sent(sent.place, sent.raw, sent.dialect, str(sent.place))


def _store_sides(
    extra: Bag, asked: Fields, answered: Answer, request: bodies.Side, response: bodies.Side
) -> None:
    """Store the other fields of the request and the response, and the texts that are incomplete."""
    _store(extra, "request", asked.rest() or None)
    _store(extra, "request_text", request.text)
    _store(extra, "response", answered.extra or None)
    _store(extra, "response_text", response.text)


def _store(extra: Bag, name: str, value: Any) -> None:
    """Add a value to the columns, under another name if a column has this one."""
    if value is not None:
        while name in extra:
            name += "_"
        extra[name] = value


def _take_text(rows: list[Row], names: tuple[str, ...]) -> str | None:
    """Take the first text of some columns; different texts in later rows stay."""
    text: str | None = None
    for row in rows:
        for name in names:
            value = row.view(name)
            if value is not None and (text is None or value == text):
                text = row.text(name) or text
                if text is not None:
                    break
    return text


def _take_id(rows: list[Row]) -> str | None:
    for name in _IDS:
        if (text := _take_text(rows, (name,))) is not None:
            return text
    return None


def _times(rows: list[Row], answer_rows: list[Row]) -> tuple[str | None, str | None]:
    """Take the start of a call and the time of its answer, stated in its own column or by its last row.

    Other times stay in their rows.
    """
    stated = next((at for row in rows if (at := row.time((RESPONSE_TIME,)))), None)
    if len(rows) == 1:
        at = rows[0].time(TIMES)
        return at, stated or (at if answer_rows else None)
    times = [row.peek_time(TIMES) for row in rows]
    started = _sort_times(times)[:1]
    answers = [at for row, at in zip(rows, times, strict=True) if row in answer_rows]
    ended = [stated] if stated else _sort_times(answers)[-1:]
    for row, at in zip(rows, times, strict=True):
        if at is None or at in started or at in ended:
            row.time(TIMES)
    return started[0] if started else None, ended[0] if ended else None


def _sort_times(times: list[str | None]) -> list[str]:
    """Return the distinct times in order."""
    known = [at for at in dict.fromkeys(times) if at is not None]
    return known if len(known) == 1 else sorted(known, key=lambda at: timestamps.epoch_ms(at) or 0)


def _duration(rows: list[Row]) -> tuple[str, int | float | None]:
    """Take the duration of a call and the name of its column."""
    for name in DURATIONS:
        for row in rows:
            column = row.column(name)
            if column is not None and (duration := row.number(name)) is not None:
                return column, duration
    return "", None


def _sides(rows: list[Row]) -> Sides | None:
    """Take the pieces of both sides out of rows of the gateway's log for language models."""
    request_rows, answer_rows = (
        [row for row in rows if row.has(name)] for name in (REQUEST_SIDE, RESPONSE_SIDE)
    )
    if not request_rows and not answer_rows:
        return None
    return Sides(_pieces(request_rows, REQUEST_SIDE), _pieces(answer_rows, RESPONSE_SIDE), answer_rows)


def _pieces(rows: list[Row], name: str) -> Pieces | None:
    return Pieces([row.take(name) for row in rows], rows[0].where) if rows else None


def _messages(sides: Sides, note: Notes) -> tuple[bodies.Side, bodies.Side]:
    """Parse the messages of both sides; those of the request become its body."""
    request = bodies.NO_SIDE
    if sides.request is not None:
        messages, text = _side(sides.request, note)
        request = bodies.Side({"input" if bodies.are_items(messages) else "messages": messages}, text)
    return request, _side(sides.response, note) if sides.response else bodies.NO_SIDE


def _side(pieces: Pieces, note: Notes) -> bodies.Side:
    return bodies.messages(pieces.values, note, pieces.location)


def _bodies(rows: list[Row]) -> tuple[bodies.Side, bodies.Side]:
    """Take the bodies; the body that the gateway forwarded to the service, if logged too, stays."""
    sides: list[bodies.Side] = []
    for names in (REQUEST_BODIES, RESPONSE_BODIES):
        column = _find_column(rows, names)
        if column is None:
            sides.append(bodies.NO_SIDE)
        else:
            row, name = column
            sides.append(bodies.body(row.take(name), row.note, row.where))
    return sides[0], sides[1]


def _find_column(rows: list[Row], names: tuple[str, ...]) -> tuple[Row, str] | None:
    """Return the first of some columns that a row has, and the row."""
    for name in names:
        for row in rows:
            if row.has(name):
                return row, name
    return None


def _parse_answer(rows: list[Row], response: bodies.Side, *, has_sides: bool) -> Answer:
    """Parse the answer. Counts of a call whose answer was not logged stay with its other metadata."""
    first, value = rows[0], response.value
    if has_sides and value:
        value = value[0] if _is_answer(value) else _to_body(value)
    answer = parse_answer(value, first.note, first.where) if value else NO_ANSWER
    if not answer.replies:
        return answer
    usage = answer.usage or _usage(rows)
    return replace(answer, usage=usage, model=_take_text(rows, (MODEL,)) or answer.model)


def _is_answer(value: list[Any]) -> bool:
    """Return whether the log has the full body of the response in place of its messages."""
    only = value[0] if len(value) == 1 and value[0].__class__ is dict else {}
    return "choices" in only or only.get("output").__class__ is list


def _to_body(messages: list[Any]) -> Bag:
    """Put answered messages into a body: choices, or the items of the Responses API."""
    if bodies.are_items(messages):
        return {"output": messages}
    return {"choices": [_choice(message) for message in messages]}


def _choice(message: Any) -> Any:
    return {"message": message} if message.__class__ is dict else message


def _usage(rows: list[Row]) -> Usage | None:
    """Take the gateway's token counts, which one row of a call has."""
    for row in rows:
        prompt, completion, total = (row.whole(name) for name in TOKENS)
        if prompt is not None or completion is not None or total is not None:
            return Usage(input=prompt, output=completion, total=total)
    return None


def _facts(rows: list[Row], request: Any) -> Facts:
    deployment = _take_text(rows, (DEPLOYMENT, DIAGNOSED_DEPLOYMENT, *OWN_DEPLOYMENTS))
    versions, accounts = _take_column(rows, VERSION), _take_column(rows, SUBSCRIPTION)
    version, account = (next(iter(stated.values()), None) for stated in (versions, accounts))
    is_version_1 = False
    for row in rows:
        for name in _URLS:
            url = row.view(name)
            is_version_1 = is_version_1 or (isinstance(url, str) and _VERSION_1_PATH in url)
            for part in _URL.finditer(url) if isinstance(url, str) else ():
                deployment = deployment or part["deployment"]
                version = version or part["version"]
    is_stated = deployment is not None or is_version_1
    if deployment is None and request.__class__ is dict and isinstance(request.get("model"), str):
        deployment = request["model"] or None
    return Facts(
        deployment, version, account, _first_text(rows, "resourceid"), versions | accounts, is_stated
    )


def _take_column(rows: list[Row], name: str) -> Bag:
    """Take the text of a column with the log's name of the column; empty if no row has it."""
    column = next((column for row in rows if (column := row.column(name)) is not None), name)
    value = _take_text(rows, (name,))
    return {} if value is None else {column: value}


def _first_text(rows: list[Row], name: str) -> str | None:
    """Return the first text in a column and leave it in place."""
    for row in rows:
        value = row.view(name)
        if isinstance(value, str):
            return value
    return None


def _rest(rows: list[Row]) -> Bag:
    """Merge the other columns of the rows; values that differ from the first one go to `rows`."""
    merged = rows[0].rest()
    differing: list[Bag] = []
    for row in rows[1:]:
        differs: Bag = {}
        for name, value in row.rest().items():
            if merged.setdefault(name, value) != value:
                differs[name] = value
        if differs:
            differing.append(differs)
    _store(merged, "rows", differing or None)
    return merged
