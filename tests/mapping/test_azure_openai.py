"""The tables and rules of the unified schema's mapping that concern Azure OpenAI, one by one."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_journal import readers
from agent_journal.detection.peek import Peek
from agent_journal.model import Conversation, Event, ids
from agent_journal.notes import Kind, Notes
from agent_journal.readers import azure_openai
from agent_journal.readers.azure_openai import calls
from tests.inline import Written, converted, save_document, save_lines
from tests.memory_source import Bytes
from tests.unified_schema import check

Raw = dict[str, Any]
REQUEST_ID = "b7a1b0d4-1111-4222-8333-444455556666"
SYSTEM = {"role": "system", "content": "Be brief."}
USER = {"role": "user", "content": "Hello?"}
USAGE = {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15}


def body(text: str = "Hi.", **more: Any) -> Raw:
    message = {"role": "assistant", "content": text}
    return {
        "id": "chatcmpl-1",
        "model": "gpt-4-0613",
        "choices": [{"message": message}],
        "usage": USAGE,
    } | more


def apim_log(**more: Any) -> Raw:
    """A record as the mapping's `transformAzureAPIMLog` takes it."""
    return {
        "requestId": REQUEST_ID,
        "apiVersion": "2024-02-01",
        "deploymentName": "gpt4-prod",
        "timestamp": "2026-01-05T08:00:00Z",
        "responseTimestamp": "2026-01-05T08:00:02.500Z",
        "durationMs": 2500,
        "requestBody": json.dumps({"messages": [SYSTEM, USER]}),
        "responseBody": json.dumps(body()),
    } | more


def unified(folder: Path, *records: Any) -> Written:
    return converted(save_lines(folder, "log.jsonl", records), "unified")


def only(folder: Path, **more: Any) -> Any:
    return unified(folder, apim_log(**more)).only


# The field mappings, each row.


def test_schema_version_is_static(tmp_path: Path) -> None:
    assert "1.0.0" == only(tmp_path)["schema_version"]


def test_conversation_id_is_the_request_id(tmp_path: Path) -> None:
    assert REQUEST_ID == only(tmp_path)["conversation_id"]


@pytest.mark.parametrize("name", ["apim-request-id", "apim_request_id", "correlationId", "CorrelationId"])
def test_conversation_id_may_be_the_apim_request_id_or_the_correlation_id(name: str, tmp_path: Path) -> None:
    assert REQUEST_ID == only(tmp_path, requestId=None, **{name: REQUEST_ID})["conversation_id"]


def test_the_apim_request_id_may_be_a_header_of_the_response(tmp_path: Path) -> None:
    headers = {"apim-request-id": REQUEST_ID, "x-ms-region": "West Europe"}

    assert REQUEST_ID == only(tmp_path, requestId=None, responseHeaders=headers)["conversation_id"]


def test_an_id_that_is_no_uuid_is_generated_from(tmp_path: Path) -> None:
    document = only(tmp_path, requestId="req-7")

    assert ids.uuid5("azure-openai-req-7") == document["conversation_id"]
    assert "req-7" == document["platform"]["metadata"]["conversation_id"] == document["session"]["session_id"]


def test_platform_name_is_static(tmp_path: Path) -> None:
    assert "azure_openai" == only(tmp_path)["platform"]["name"]


def test_platform_version_is_the_version_of_the_api(tmp_path: Path) -> None:
    assert "2024-02-01" == only(tmp_path)["platform"]["version"]


def test_platform_model_is_the_deployment_and_the_message_has_the_model(tmp_path: Path) -> None:
    document = only(tmp_path)

    assert "gpt4-prod" == document["platform"]["model"]
    assert "gpt-4-0613" == document["messages"][-1]["metadata"]["model_override"]


def test_deployment_and_version_may_stand_in_the_address(tmp_path: Path) -> None:
    url = "https://x.example/openai/deployments/from-url/chat/completions?api-version=2025-01-01&a=b"
    document = only(tmp_path, deploymentName=None, apiVersion=None, Url=url, correlationId="c")

    assert "from-url" == document["platform"]["model"]
    assert "2025-01-01" == document["platform"]["version"]


@pytest.mark.parametrize("name", ["deployment", "deployment_id", "DeploymentId"])
def test_the_deployment_may_have_a_shorter_name(name: str, tmp_path: Path) -> None:
    record = {"requestId": REQUEST_ID, name: "tides-prod", "requestBody": json.dumps({"messages": [USER]})}

    assert "tides-prod" == unified(tmp_path, record).only["platform"]["model"]


def test_the_request_names_the_deployment_if_nothing_else_does(tmp_path: Path) -> None:
    sent = json.dumps({"model": "asked-for", "messages": [USER]})

    assert "asked-for" == only(tmp_path, deploymentName=None, requestBody=sent)["platform"]["model"]


@pytest.mark.parametrize(
    ("role", "expected"),
    [
        ("system", "system"),
        ("developer", "system"),
        ("user", "user"),
        ("assistant", "assistant"),
        ("tool", "tool"),
        ("function", "function"),
    ],
)
def test_roles_are_those_of_the_request(role: str, expected: str, tmp_path: Path) -> None:
    sent = {"role": role, "content": "said", "tool_call_id": "c"}
    document = only(tmp_path, requestBody=json.dumps({"messages": [sent, USER]}))

    assert [expected, "user", "assistant"] == [message["role"] for message in document["messages"]]


def test_content_that_is_text_becomes_a_text_block(tmp_path: Path) -> None:
    contents = [message["content"] for message in only(tmp_path)["messages"]]

    assert [[{"type": "text", "text": text}] for text in ("Be brief.", "Hello?", "Hi.")] == contents


def test_content_that_is_a_list_stays_one(tmp_path: Path) -> None:
    parts = [
        {"type": "text", "text": "This?"},
        {"type": "image_url", "image_url": {"url": "https://x.example/a.png"}},
    ]
    document = only(tmp_path, requestBody=json.dumps({"messages": [{"role": "user", "content": parts}]}))

    assert [
        {"type": "text", "text": "This?"},
        {"type": "image", "source": {"type": "url", "data": "https://x.example/a.png"}},
    ] == document["messages"][0]["content"]


def test_tokens_are_the_usage_of_the_response(tmp_path: Path) -> None:
    document = only(tmp_path)

    assert [None, None] == [message.get("tokens") for message in document["messages"][:-1]]
    tokens = document["messages"][-1]["tokens"]
    assert (12, 3) == (tokens["input_tokens"], tokens["output_tokens"])
    assert USAGE.items() <= tokens.items()
    assert {"input": 12, "output": 3} == document["metrics"]["total_tokens"]


def test_cached_tokens_are_distinguished(tmp_path: Path) -> None:
    usage = {**USAGE, "prompt_tokens_details": {"cached_tokens": 8}}
    tokens = only(tmp_path, responseBody=json.dumps(body(usage=usage)))["messages"][-1]["tokens"]

    assert (4, 8) == (tokens["input_tokens"], tokens["cache_read_input_tokens"])


@pytest.mark.parametrize("name", ["durationMs", "DurationMs", "duration_ms"])
def test_duration(name: str, tmp_path: Path) -> None:
    record = apim_log(**{name: 1234})
    if name != "durationMs":
        del record["durationMs"]
    document = unified(tmp_path, record).only

    assert 1234 == document["metrics"]["duration_ms"]
    assert 1234 == document["messages"][-1]["metadata"]["duration_ms"]


# The mapping's function as a whole.


def test_ids_and_times_of_the_messages(tmp_path: Path) -> None:
    document = only(tmp_path)

    assert [f"{REQUEST_ID}-0", f"{REQUEST_ID}-1", f"{REQUEST_ID}-response"] == [
        message["message_id"] for message in document["messages"]
    ]
    assert ["2026-01-05T08:00:00.000Z"] * 2 + ["2026-01-05T08:00:02.500Z"] == [
        message["timestamp"] for message in document["messages"]
    ]
    assert "2026-01-05T08:00:00.000Z" == document["created_at"]
    assert "2026-01-05T08:00:02.500Z" == document["updated_at"]
    assert [] == check(document)


def test_without_a_response_time_the_duration_gives_it(tmp_path: Path) -> None:
    document = only(tmp_path, responseTimestamp=None)

    assert "2026-01-05T08:00:02.500Z" == document["messages"][-1]["timestamp"]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (("12/02/2026, 10:00:00.000", "13/02/2026, 10:00:00.000"), ("2026-02-12", "2026-02-13")),
        (("2/12/2026, 10:00:00.000 AM", "2/13/2026, 10:00:00.000 AM"), ("2026-02-12", "2026-02-13")),
        # Without a day above the twelfth, it is as in the United States.
        (("2/3/2026, 10:00:00.000 AM", "2/4/2026, 10:00:00.000 AM"), ("2026-02-03", "2026-02-04")),
        (("3.2.2026, 10:00:00.000", "4.2.2026, 10:00:00.000"), ("2026-02-03", "2026-02-04")),
        (
            ("2026. 2. 3. \uc624\uc804 10:00:00", "2026. 2. 4. \uc624\uc804 10:00:00"),
            ("2026-02-03", "2026-02-04"),
        ),
    ],
)
def test_the_portal_writes_dates_as_the_browser_does(
    written: tuple[str, str], expected: tuple[str, str], tmp_path: Path
) -> None:
    header = '"TimeGenerated [UTC]",Category,OperationName,DurationMs,CorrelationId,"properties_s"'
    rows = [
        f'"{at}",RequestResponse,ChatCompletions_Create,300,k{number},"{{""modelDeploymentName"":""a""}}"'
        for number, at in enumerate(written)
    ]
    (tmp_path / "log.csv").write_text("\r\n".join([header, *rows]), encoding="utf-8")
    found = converted(tmp_path / "log.csv", "unified").documents

    assert [*expected] == [each["created_at"][:10] for each in found]


@pytest.mark.parametrize(
    ("written", "at"),
    [
        (1767600000, "2026-01-05T08:00:00.000Z"),
        (1767600000123, "2026-01-05T08:00:00.123Z"),
        ("2026-01-05T09:00:00+01:00", "2026-01-05T08:00:00.000Z"),
        ("1/5/2026, 8:00:00.250 AM", "2026-01-05T08:00:00.250Z"),
    ],
)
def test_times_are_normalized(written: Any, at: str, tmp_path: Path) -> None:
    assert at == only(tmp_path, timestamp=written, responseTimestamp=None)["created_at"]


def test_bodies_may_be_objects(tmp_path: Path) -> None:
    document = only(tmp_path, requestBody={"messages": [USER]}, responseBody=body("As you see."))

    assert "As you see." == document["messages"][-1]["content"][0]["text"]


def test_a_streamed_body_is_folded(tmp_path: Path) -> None:
    events = [
        {"choices": [], "prompt_filter_results": []},
        *(
            {"id": "x", "model": "m", "choices": [{"index": 0, "delta": {"content": text}}]}
            for text in ("A", "B")
        ),
        {"choices": [], "usage": USAGE},
    ]
    text = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
    answer = only(tmp_path, responseBody=text)["messages"][-1]

    assert "AB" == answer["content"][0]["text"]
    assert 12 == answer["tokens"]["input_tokens"]


def test_bodies_of_the_responses_api(tmp_path: Path) -> None:
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hi."}]}
    usage = {"input_tokens": 12, "output_tokens": 3, "total_tokens": 15}
    answered = {"id": "resp_1", "object": "response", "model": "gpt-5", "output": [said], "usage": usage}
    sent = {"model": "gpt5-prod", "instructions": "Be brief.", "input": "Hello?"}
    document = only(
        tmp_path, deploymentName=None, requestBody=json.dumps(sent), responseBody=json.dumps(answered)
    )

    assert "gpt5-prod" == document["platform"]["model"]
    assert ["system", "user", "assistant"] == [message["role"] for message in document["messages"]]
    assert ["Be brief.", "Hello?", "Hi."] == [
        message["content"][0]["text"] for message in document["messages"]
    ]
    assert (12, 3) == tuple(
        document["messages"][2]["tokens"][name] for name in ("input_tokens", "output_tokens")
    )
    assert 2500 == document["messages"][2]["metadata"]["duration_ms"]


def test_request_and_response_may_be_logged_one_by_one(tmp_path: Path) -> None:
    sent, came = apim_log(), apim_log(timestamp="2026-01-05T08:00:02Z")
    del sent["responseBody"], came["requestBody"]
    document = unified(tmp_path, came, sent).only

    assert ["Be brief.", "Hello?", "Hi."] == [
        message["content"][0]["text"] for message in document["messages"]
    ]


def test_a_call_that_is_logged_twice_counts_once(tmp_path: Path) -> None:
    done = unified(tmp_path, apim_log(), apim_log())

    assert 3 == len(done.only["messages"])
    assert 1 == len(done.noted(Kind.REPEATED_RECORD))


def test_tool_calls_and_results_are_blocks(tmp_path: Path) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at": "sky"}'}}
    sent = [
        USER,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "blue"},
    ]
    document = only(tmp_path, requestBody=json.dumps({"messages": sent}))

    assert {"type": "tool_use", "id": "c1", "name": "look", "input": {"at": "sky"}} == document["messages"][
        1
    ]["content"][0]
    assert {"type": "tool_result", "tool_use_id": "c1", "content": "blue", "is_error": False} == document[
        "messages"
    ][2]["content"][0]
    assert 1 == document["metrics"]["tool_calls"]


def test_an_error_is_preserved_with_its_request(tmp_path: Path) -> None:
    error = {"code": "429", "message": "slow down"}
    document = only(tmp_path, responseBody=json.dumps({"error": error}))

    assert error == document["requests"][0]["error"]
    assert 2 == len(document["messages"])


def test_citations_of_own_data(tmp_path: Path) -> None:
    context = {"citations": [{"title": "T", "url": "https://x.example", "content": "c", "filepath": "t.md"}]}
    answered = body(
        choices=[{"message": {"role": "assistant", "content": "See [doc1].", "context": context}}]
    )
    (block,) = only(tmp_path, responseBody=json.dumps(answered))["messages"][-1]["content"]

    assert ["T"] == [citation["title"] for citation in block["metadata"]["citations"]]


def test_calls_that_repeat_the_dialogue_are_one_conversation(tmp_path: Path) -> None:
    sent = [SYSTEM, USER, {"role": "assistant", "content": "Hi."}, {"role": "user", "content": "More?"}]
    later = apim_log(
        requestId="later",
        timestamp="2026-01-05T09:00:00Z",
        responseTimestamp=None,
        requestBody=json.dumps({"messages": sent}),
        responseBody=json.dumps(body("No.", id="chatcmpl-2")),
    )
    document = unified(tmp_path, later, apim_log()).only  # newest first, as logs are exported

    assert REQUEST_ID == document["conversation_id"]
    assert [f"{REQUEST_ID}-0", f"{REQUEST_ID}-1", f"{REQUEST_ID}-response", "later-3", "later-response"] == [
        message["message_id"] for message in document["messages"]
    ]
    assert 5000 == document["metrics"]["duration_ms"]
    assert {"input": 24, "output": 6} == document["metrics"]["total_tokens"]
    assert [] == check(document)


# Required fields: request ID, deployment, messages.


def test_required_fields() -> None:
    required = readers.get("azure-openai").INFO.required

    assert {"conversation_id", "platform.model", "messages[].role", "messages[].content"} <= set(required)


def test_without_a_request_id_one_is_made_and_noted(tmp_path: Path) -> None:
    done = unified(tmp_path, apim_log(requestId=None))

    assert ids.is_uuid(done.only["conversation_id"])
    assert 1 == len(done.noted(Kind.MISSING_ID))


def test_without_a_deployment_the_model_stands_in(tmp_path: Path) -> None:
    assert "gpt-4-0613" == only(tmp_path, deploymentName=None)["platform"]["model"]


# The gateway's log for language models.


def llm_rows(correlation: str = "k1", at: str = "2026-01-01T10:00:0", **header: Any) -> list[Raw]:
    counts = {"PromptTokens": 20, "CompletionTokens": 5, "TotalTokens": 25}
    names = {"DeploymentName": "tea", "ModelName": "gpt-4o-2024-11-20", "ApiVersion": "2024-10-21"}
    return [
        {
            "TimeGenerated": f"{at}0Z",
            "CorrelationId": correlation,
            "SequenceNumber": 0,
            **names,
            **counts,
            **header,
        },
        {
            "TimeGenerated": f"{at}0Z",
            "CorrelationId": correlation,
            "SequenceNumber": 1,
            "RequestMessages": json.dumps([USER]),
        },
        {
            "TimeGenerated": f"{at}1Z",
            "CorrelationId": correlation,
            "SequenceNumber": 2,
            "ResponseMessages": json.dumps([{"role": "assistant", "content": "Hi."}]),
        },
    ]


def test_rows_of_a_call_are_joined(tmp_path: Path) -> None:
    document = unified(tmp_path, *llm_rows(DurationMs=1500)).only

    assert ids.uuid5("azure-openai-k1") == document["conversation_id"]
    assert ("tea", "2024-10-21") == (document["platform"]["model"], document["platform"]["version"])
    assert ["Hello?", "Hi."] == [message["content"][0]["text"] for message in document["messages"]]
    assert "gpt-4o-2024-11-20" == document["messages"][1]["metadata"]["model_override"]
    assert {"input_tokens": 20, "output_tokens": 5, "total_tokens": 25} == document["messages"][1]["tokens"]
    assert "2026-01-01T10:00:01.000Z" == document["messages"][1]["timestamp"]
    assert 1500 == document["metrics"]["duration_ms"]
    assert [] == check(document)


def test_rows_may_come_in_any_order_and_between_others(tmp_path: Path) -> None:
    first, second = llm_rows(), llm_rows("k2", "2026-01-02T10:00:0")
    second[1]["RequestMessages"] = json.dumps([{"role": "user", "content": "Another"}])
    straight = unified(tmp_path, *first, *second)
    mixed = unified(tmp_path, second[2], first[1], second[0], first[2], second[1], first[0])

    assert 2 == len(straight.documents)
    assert [one["messages"] for one in straight.documents] == [one["messages"] for one in mixed.documents]


def test_messages_in_pieces_are_put_together_by_their_sequence_number(tmp_path: Path) -> None:
    header, _, answer = llm_rows()
    text = json.dumps([{"role": "user", "content": "x" * 90 + 'é\\"' + "y" * 90}])
    pieces = [text[at : at + 40] for at in range(0, len(text), 40)]
    rows = [
        {"CorrelationId": "k1", "SequenceNumber": 10 + place, "RequestMessages": piece}
        for place, piece in enumerate(pieces)
    ]
    answer["SequenceNumber"] = 99
    document = unified(tmp_path, answer, *reversed(rows), header).only

    assert json.loads(text)[0]["content"] == document["messages"][0]["content"][0]["text"]


def test_what_the_gateway_cut_off_is_noted_and_the_text_preserved(tmp_path: Path) -> None:
    header, sent, answer = llm_rows()
    sent["RequestMessages"] = json.dumps([USER, {"role": "user", "content": "cut off"}])[:-8]
    done = unified(tmp_path, header, sent, answer)

    assert 1 == len(done.noted(Kind.TRUNCATED))
    assert "Hello?" == done.only["messages"][0]["content"][0]["text"]
    assert sent["RequestMessages"] == done.only["requests"][0]["extra"]["request_text"]


def test_the_other_log_of_the_gateway_gives_duration_and_subscription(tmp_path: Path) -> None:
    gateway = {
        "CorrelationId": "k1",
        "ApimSubscriptionId": "team-7",
        "TotalTime": 1234,
        "Url": "https://x.example/a",
    }
    document = unified(tmp_path, gateway, *llm_rows()).only

    assert 1234 == document["metrics"]["duration_ms"]
    assert "team-7" == document["platform"]["metadata"]["account_id"]


# Azure Diagnostics: metadata alone.


def diagnostics(**more: Any) -> Raw:
    properties = {"apiName": "Azure OpenAI API", "modelDeploymentName": "tea", "modelName": "gpt-4o"}
    return {
        "TimeGenerated": "2026-04-01T12:00:00Z",
        "Category": "RequestResponse",
        "ResourceProvider": "MICROSOFT.COGNITIVESERVICES",
        "OperationName": "ChatCompletions_Create",
        "DurationMs": 640,
        "CorrelationId": "d-1",
        "properties_s": json.dumps(properties),
    } | more


def test_diagnostics_are_events_with_durations_and_no_messages(tmp_path: Path) -> None:
    document = unified(tmp_path, diagnostics(), diagnostics(CorrelationId="d-2", DurationMs="60")).only

    assert [] == document["messages"]
    assert ["ChatCompletions_Create"] * 2 == [event["name"] for event in document["events"]]
    assert "tea" == document["platform"]["model"]
    assert 700 == document["metrics"]["duration_ms"]
    assert [] == check(document)


def test_diagnostics_of_a_call_whose_messages_are_known_give_its_duration(tmp_path: Path) -> None:
    document = unified(tmp_path, *llm_rows("d-1"), diagnostics()).only

    assert 640 == document["metrics"]["duration_ms"]
    assert ["Hello?", "Hi."] == [message["content"][0]["text"] for message in document["messages"]]


# The files that rows come in.


def as_table(rows: list[Raw]) -> tuple[list[str], list[list[Any]]]:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return columns, [[row.get(name) for name in columns] for row in rows]


def in_file(kind: str, folder: Path) -> Path:
    rows = llm_rows()
    columns, values = as_table(rows)
    if kind == "csv":
        out = io.StringIO()
        table = csv.writer(out)
        table.writerow([f"{name} [UTC]" if name == "TimeGenerated" else name for name in columns])
        table.writerows(values)
        path = folder / "query_data.csv"
        path.write_text(out.getvalue(), encoding="utf-8-sig")
        return path
    if kind == "lines":
        return save_lines(folder, "PT1H.json", rows)
    listed = [{"name": name, "type": "string"} for name in columns]
    printed = [
        {"TableName": "PrimaryResult", **dict(zip(columns, map(str, row), strict=True))} for row in values
    ]
    stored = [
        {
            "time": row.pop("TimeGenerated"),
            "category": "GatewayLlmLogs",
            "correlationId": row.pop("CorrelationId"),
            "properties": row,
        }
        for row in llm_rows()
    ]
    documents = {
        "array": rows,
        "tables": {"tables": [{"name": "PrimaryResult", "columns": listed, "rows": values}]},
        "cli": printed,
        "storage": stored,
        "event hub": {"records": stored},
        "powershell": {"Results": rows},
    }
    return save_document(folder, "rows.json", documents[kind])


@pytest.mark.parametrize(
    "kind", ["array", "lines", "csv", "tables", "cli", "storage", "event hub", "powershell"]
)
def test_rows_are_the_same_from_every_file(kind: str, tmp_path: Path) -> None:
    path = in_file(kind, tmp_path)
    document = converted(path, "unified").only

    assert "llm-log" == azure_openai.sniff(Peek(Bytes(path.read_bytes())))
    assert ["Hello?", "Hi."] == [message["content"][0]["text"] for message in document["messages"]]
    assert ["2026-01-01T10:00:00.000Z", "2026-01-01T10:00:01.000Z"] == [
        message["timestamp"] for message in document["messages"]
    ]
    assert 20 == document["messages"][1]["tokens"]["input_tokens"]
    assert "tea" == document["platform"]["model"]


# Detection.


@pytest.mark.parametrize(
    ("record", "version"),
    [
        (apim_log(), "bodies"),
        ({"REQUESTBODY": '{"messages": []}', "RESPONSEBODY": "", "DEPLOYMENTNAME": "d"}, "bodies"),
        ({"customDimensions": '{"requestBody": {"messages": []}, "apiVersion": "1"}'}, "bodies"),
        ({"customDimensions": {"requestBody": '{"messages": []}', "apiVersion": "1"}}, "bodies"),
        ({"CorrelationId": "c", "RequestMessages": None}, "llm-log"),
        ({"CorrelationId": "c", "SequenceNumber": 0, "DeploymentName": "d"}, "llm-log"),
        (diagnostics(), "diagnostics"),
        (diagnostics(ResourceProvider=None), "diagnostics"),
        (diagnostics(Category="Audit"), "diagnostics"),
        # Other services write the same tables.
        (diagnostics(ResourceProvider="MICROSOFT.KEYVAULT", properties_s="{}"), None),
        (diagnostics(Category="Gateway"), None),
        ({"CorrelationId": "c", "RequestBody": '{"order": 7}', "ResponseBody": "ok"}, None),
        ({"requestBody": '{"messages": []}', "responseBody": "{}"}, None),
        ({"CorrelationId": "c", "SequenceNumber": 1}, None),
        ({"CorrelationId": "c", "request": {"messages": [USER]}}, None),
        ({"tables": []}, None),
        ({"tables": [{"columns": [{"name": "x"}], "rows": [[1]]}]}, None),
        ({"records": [{"a": 1}]}, None),
        ({"properties": {"type": "object"}}, None),
    ],
)
def test_detection(record: Raw, version: str | None) -> None:
    assert version == azure_openai.sniff(Peek(Bytes(json.dumps(record).encode())))


@pytest.mark.parametrize(
    ("header", "version"),
    [
        ("TimeGenerated [UTC],CorrelationId,SequenceNumber,DeploymentName", "llm-log"),
        ("requestId,deploymentName,requestBody,responseBody", "bodies"),
        ("TimeGenerated,Category,OperationName,DurationMs,properties_s", "diagnostics"),
        ("requestBody,responseBody", None),
        ("CorrelationId,Message", None),
    ],
)
def test_detection_of_tables(header: str, version: str | None) -> None:
    assert version == azure_openai.sniff(Peek(Bytes(f"{header}\n".encode())))


# Bad input.


@pytest.mark.parametrize(
    "name", ["RequestMessages", "ResponseMessages", "SequenceNumber", "CorrelationId", "TimeGenerated"]
)
@pytest.mark.parametrize("value", [None, 7, 1.5, True, "", "x", "[", "{}", [], {}, [[]], [{}], {"a": [1]}])
def test_a_value_of_any_type_breaks_nothing(name: str, value: Any) -> None:
    rows = [row | {name: value} for row in llm_rows()]
    found = [*azure_openai.read(Bytes(json.dumps(rows).encode()), "llm-log", Notes())]

    assert found
    assert all(isinstance(item, Conversation) for item in found)


def test_a_call_without_messages_is_still_recorded(tmp_path: Path) -> None:
    (header, *_), path = llm_rows(), tmp_path
    (found,) = azure_openai.read(Bytes(json.dumps([header]).encode()), "llm-log", Notes())

    assert isinstance(found, Conversation)
    assert ["call"] == [entry.name for entry in found.timeline if isinstance(entry, Event)]
    assert 20 == unified(path, header).only["events"][0]["data"]["PromptTokens"]


# The usual rows of a call are read as one; what must come of that is what comes of reading them with care.

TIME = "2026-05-04T09:00:00Z"
COLUMNS = {
    "SequenceNumber": st.sampled_from([0, 1, 2, "1", None]),
    "DeploymentName": st.sampled_from(["gpt-4o", "other", 7]),
    "deployment_name": st.just("gpt-4o"),
    "modelDeploymentName": st.just("gpt-4o"),
    "ModelName": st.sampled_from(["gpt-4o-2024-11-20", 5]),
    "ApiVersion": st.sampled_from(["2024-10-21", "2025-01-01"]),
    "PromptTokens": st.sampled_from([3, "3", [3]]),
    "TotalTokens": st.sampled_from([5, 6.0]),
    "DurationMs": st.sampled_from([9, "9"]),
    "ResponseTimestamp": st.just("2026-05-04T09:00:07Z"),
    "LastErrorReason": st.just("odd"),
    "OperationName": st.sampled_from(["Log", 1]),
    "Region": st.sampled_from(["north", "south"]),
    "Properties": st.just({"ModelName": "nested"}),
    "Url": st.just("https://x.example/openai/deployments/url-gpt/chat?api-version=2023"),
    "RequestMessages": st.sampled_from([json.dumps([USER]), json.dumps([USER])[:20], "odd", [USER], 7]),
    "ResponseMessages": st.sampled_from(
        [json.dumps([{"role": "assistant", "content": "Hi."}]), "[]", '[{"role"']
    ),
}
ROWS = st.lists(
    st.fixed_dictionaries(
        {"CorrelationId": st.just("c-1")},
        optional={
            "TimeGenerated": st.sampled_from([TIME, TIME, TIME, "2026-05-04T09:00:01Z", "never", 5]),
            "time": st.just(TIME),
            **COLUMNS,
        },
    ),
    min_size=2,
    max_size=4,
)
USUAL = st.tuples(
    st.fixed_dictionaries({}, optional={"Region": st.just("north"), "Url": COLUMNS["Url"]}),
    st.fixed_dictionaries({}, optional={name: COLUMNS[name] for name in ("ModelName", "PromptTokens")}),
    st.lists(COLUMNS["RequestMessages"], max_size=3),
    st.lists(COLUMNS["ResponseMessages"], max_size=2),
)


def read_rows(rows: list[Raw]) -> Any:
    notes = Notes()
    found = list(azure_openai.read(Bytes(json.dumps(rows).encode()), "llm-log", notes))
    return found, notes.collected


def read_with_care(rows: list[Raw]) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(calls, "joined", lambda _: None)
        return read_rows(rows)


@given(ROWS)
@settings(deadline=None)
def test_any_rows_of_a_call_read_as_with_care(rows: list[Raw]) -> None:
    assert read_with_care(rows) == read_rows(rows)


@given(USUAL)
@settings(deadline=None)
def test_the_fast_path_reads_rows_like_the_careful_one(parts: tuple[Raw, Raw, list[Any], list[Any]]) -> None:
    shared, counts, requests, responses = parts
    rows = [{"CorrelationId": "c-1", "TimeGenerated": TIME, **shared} for _ in range(1 + len(requests))]
    rows[0] |= counts
    for row, piece in zip(rows[1:], requests, strict=True):
        row["RequestMessages"] = piece
    rows += [rows[0] | dict.fromkeys(counts) | {"ResponseMessages": piece} for piece in responses]
    rows = [row | {"SequenceNumber": number} for number, row in enumerate(rows)]

    assert read_with_care(rows) == read_rows(rows)


DIMENSIONS = {
    "requestBody": {"requestId": "q1", "deploymentName": "gpt4-prod", "requestBody": {"messages": [USER]}},
    "responseBody": {"requestId": "q1", "deploymentName": "gpt4-prod", "responseBody": body()},
}


def dimensions_in(form: str) -> bytes:
    """Two rows of Application Insights, whose dimensions every export has as a text."""
    header = ["timestamp", "message", "customDimensions"]
    rows = [["2026-01-05T08:00:00Z", name, json.dumps(value)] for name, value in DIMENSIONS.items()]
    if form == "csv":
        out = io.StringIO()
        csv.writer(out).writerows([header, *rows])
        return out.getvalue().encode()
    if form == "rest":
        columns = [{"name": name, "type": "string"} for name in header]
        return json.dumps({"tables": [{"name": "PrimaryResult", "columns": columns, "rows": rows}]}).encode()
    return json.dumps([dict(zip(header, row, strict=True)) for row in rows]).encode()


@pytest.mark.parametrize("form", ["csv", "rest", "rows"])
def test_dimensions_that_are_a_text_are_known_and_joined(form: str) -> None:
    source = Bytes(dimensions_in(form))
    version = azure_openai.sniff(Peek(source))
    (found,) = azure_openai.read(source, version or "", Notes())

    assert "bodies" == version
    assert isinstance(found, Conversation)
    assert "q1" == found.id
    assert ["user", "assistant"] == [entry.role for entry in found.timeline if not isinstance(entry, Event)]


def test_dimensions_of_another_service_are_not_claimed() -> None:
    other = json.dumps({"requestBody": {"basket": ["tea"]}, "correlationId": "k1"}).replace('"', '""')
    table = f'timestamp,message,customDimensions\r\n2026-01-05T08:00:00Z,ordered,"{other}"\r\n'

    assert azure_openai.sniff(Peek(Bytes(table.encode()))) is None


@pytest.mark.parametrize("spelling", ["requestBody", "RequestBody", "request_body_s"])
def test_a_first_request_that_is_longer_than_what_is_looked_at_is_known(spelling: str) -> None:
    asked = {"messages": [{"role": "user", "content": "tide " * 20_000}]}
    before = {"requestId": "1", "deploymentName": "gpt-4o", "timestamp": "2026-01-05T08:00:00Z"}
    row = {**before, spelling: json.dumps(asked), "responseBody": json.dumps(body())}
    other = {**before, spelling: json.dumps({"basket": ["tea"] * 20_000})}

    for data in (json.dumps([row, row]), f"{json.dumps(row)}\n{json.dumps(row)}\n"):
        assert azure_openai.sniff(Peek(Bytes(data.encode()))) == "bodies"
    assert azure_openai.sniff(Peek(Bytes(json.dumps([other]).encode()))) is None


def test_what_calls_say_otherwise_about_account_and_version_stays_with_them() -> None:
    first = apim_log(ApimSubscriptionId="ana")
    second = apim_log(
        requestId="2", timestamp="2026-01-05T09:00:00Z", apiVersion="v1", ApimSubscriptionId="bo"
    )
    (found,) = azure_openai.read(Bytes(json.dumps([first, second]).encode()), "bodies", Notes())

    assert isinstance(found, Conversation)
    assert ("ana", "2024-02-01") == (found.account_id, found.app_version)
    assert [{}, {"apiVersion": "v1", "ApimSubscriptionId": "bo"}] == [
        {name: value for name, value in each.extra.items() if name in ("apiVersion", "ApimSubscriptionId")}
        for each in found.requests
    ]


def test_calls_of_which_only_metadata_is_known_keep_whose_they_are() -> None:
    rows = [
        {
            "TimeGenerated": f"2026-01-05T0{hour}:00:00Z",
            "CorrelationId": str(hour),
            "ApimSubscriptionId": whose,
        }
        for hour, whose in enumerate(("ana", "bo", "ana"))
    ]
    (found,) = azure_openai.read(Bytes(json.dumps(rows).encode()), "llm-log", Notes())

    assert isinstance(found, Conversation)
    assert "ana" == found.account_id
    assert [{}, {"ApimSubscriptionId": "bo"}, {}] == [
        entry.data for entry in found.timeline if isinstance(entry, Event)
    ]


def test_rows_of_the_gateway_take_the_fast_path(monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"CorrelationId": "c-1", "TimeGenerated": TIME, "Region": "north"}
    rows = [
        row | {"SequenceNumber": 0, "DeploymentName": "gpt-4o", "PromptTokens": 3},
        row | {"SequenceNumber": 1, "RequestMessages": json.dumps([USER])},
        row | {"SequenceNumber": 2, "ResponseMessages": "[]"},
    ]
    monkeypatch.setattr(calls, "_rest", lambda rows: {"rows": len(rows)})
    ((conversation,), _) = read_rows(rows)

    assert conversation.requests[0].extra == {"rows": 1}
