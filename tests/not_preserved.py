"""What each writer declares as not preserved, by the fields of the model that this is about.

`Memory` alone stands for all fields of a memory. A field of a struct that no item can hold any more, as
those of `Usage` without `Message.usage`, needs no line. A phrase without fields is about values, not about
fields: another value of the field is preserved.
"""

from __future__ import annotations

_CONVERSATION_IDS = "Conversation.id Conversation.source"
_TITLE = "Conversation.title Conversation.tags"
_TIMES = "Conversation.started_at Conversation.updated_at"
_PLACE = "Conversation.cwd Conversation.git_branch Conversation.git_commit"
_ENVIRONMENT = "Conversation.editor Conversation.os Conversation.shell"
_SOURCE_FIELDS_OF_CONVERSATION = "Conversation.extra Conversation.platform Conversation.context"
_SOURCE_FIELDS_OF_PARTS = "Text.extra Code.extra Reasoning.extra ToolCall.extra ToolResult.extra Media.extra"
_SOURCE_FIELDS = f"{_SOURCE_FIELDS_OF_CONVERSATION} {_SOURCE_FIELDS_OF_PARTS} Message.extra"
_REQUESTS = (
    "Request.id Request.index Request.api Request.at Request.model Request.duration_ms Request.system "
    "Request.since_id Request.tools Request.extra"
)
_TRAINING_REQUESTS = (
    "Request.id Request.index Request.api Request.at Request.model Request.duration_ms Request.since_id "
    "Request.prompt_id Request.response_ids Request.tools Request.error Request.extra"
)
_CODE_PLACE = "Code.file Code.first_line Code.last_line"
_USAGE_SHARES = "Usage.cache_write_5m Usage.cache_write_1h Usage.reasoning Usage.total Usage.extra"
_NATIVE = "Message.native ToolResult.native"
_TRAINING_METADATA = (
    f"Conversation.source {_TITLE} {_PLACE} {_ENVIRONMENT} Conversation.app_version Conversation.account_id "
    "Conversation.archived Conversation.only_prompts Conversation.head_id Conversation.link "
    "Conversation.made_id Conversation.summaries Conversation.feedback Conversation.product"
)

NOT_PRESERVED: dict[str, dict[str, str]] = {
    "agent-record": {
        "memories": "Memory",
        "title, tags, summaries, feedback, links, tools and requests": (
            f"{_TITLE} Conversation.summaries Conversation.feedback Conversation.link Conversation.tools "
            "Conversation.requests"
        ),
        "account, environment other than the folder, and end time": (
            f"Conversation.product Conversation.account_id {_ENVIRONMENT} Conversation.archived "
            "Conversation.git_branch Conversation.git_commit Conversation.updated_at"
        ),
        "a stated start time later than the first entry": "",
        "the fact that only the prompts are known": "Conversation.only_prompts",
        "system messages": "",
        "events other than queue operations, token counts and steps; event data": "Event.data",
        "parents and branches": ("Conversation.shape Conversation.head_id Message.parent_id Event.parent_id"),
        "token usage and cost of messages": "Message.usage",
        "models of single messages": "",
        "hidden and side-chain flags, response ids and stop reasons of messages": (
            "Message.hidden Message.sidechain Message.response_id Message.stop_reason"
        ),
        "the message of separate parts, and media and files among these": "",
        "the interpretation of content, which is in native form": (
            "Text.injected Text.citations ToolCall.kind ToolResult.name"
        ),
        "source-specific fields": f"{_SOURCE_FIELDS_OF_CONVERSATION} Message.extra ToolResult.extra",
        "generated ids, and names of sources without a reader": "Conversation.made_id",
    },
    "agent-record-v3": {"memories": "Memory"},
    "anthropic-messages": {
        "memories, and conversations without messages or with prompts alone": "Memory",
        "branches other than the current one, and events": "Event",
        "reasoning, as the service refuses that of other models, and that without its signature": "Reasoning",
        "ids, times, models, token usage and cost": (
            f"{_CONVERSATION_IDS} {_TIMES} Conversation.model Conversation.made_id Message.at Message.model "
            "Message.made_id Message.response_id Message.usage"
        ),
        "parts of unknown kinds, citations, and places of code": "Other Text.citations Code",
        "conversation metadata": (
            f"{_TITLE} {_PLACE} {_ENVIRONMENT} Conversation.product Conversation.app_version "
            "Conversation.account_id Conversation.archived Conversation.link Conversation.summaries "
            "Conversation.feedback Conversation.tools Conversation.requests"
        ),
        "source-specific fields, stop reasons, kinds of tools, and whether a program wrote a prompt": (
            f"{_SOURCE_FIELDS_OF_CONVERSATION} Text.extra ToolCall.extra ToolResult.extra Media.extra "
            f"Message.extra {_NATIVE} Message.stop_reason ToolCall.kind ToolResult.name Media.size"
        ),
    },
    "claude-code": {
        "memories, and conversations without messages or with prompts alone": "Memory",
        "of other tools: branches other than the current one, and events": "Event",
        "of other tools: reasoning, as the service would refuse its signature": "Reasoning",
        "of other tools: token usage and cost": "Message.usage",
        "of other tools: parts of unknown kinds, citations, and places of code": "Other Text.citations Code",
        "tools, requests, feedback, tags and summaries": (
            "Conversation.tools Conversation.requests Conversation.feedback Conversation.tags "
            "Conversation.summaries"
        ),
        "of other tools: account, environment, version, model and commit of the conversation, and its end": (
            f"Conversation.product Conversation.account_id {_ENVIRONMENT} Conversation.app_version "
            "Conversation.model "
            "Conversation.git_commit Conversation.updated_at Conversation.archived"
        ),
        "of other tools: source-specific fields, stop reasons, kinds of tools, generated ids": (
            f"{_SOURCE_FIELDS_OF_CONVERSATION} Text.extra ToolCall.extra ToolResult.extra Media.extra "
            f"Message.extra {_NATIVE} Message.stop_reason ToolCall.kind ToolResult.name Media.size "
            "Message.made_id Conversation.made_id Link.message_id"
        ),
    },
    "codex": {
        "memories, and conversations without messages or with prompts alone": "Memory",
        "of other tools: branches other than the current one, events, and system prompts": "Event",
        "of other tools: reasoning, as it is encrypted for one service": "Reasoning",
        "of other tools: token usage and cost, and models, which would be used for what follows": (
            "Message.usage Message.model Conversation.model"
        ),
        "of other tools: parts of unknown kinds, citations, places of code, and whether a call failed": (
            "Other Text.citations Code ToolResult.is_error"
        ),
        "tools, requests, feedback, tags and summaries": (
            "Conversation.tools Conversation.requests Conversation.feedback Conversation.tags "
            "Conversation.summaries"
        ),
        "of other tools: account, environment, version and end of the conversation": (
            f"Conversation.product Conversation.account_id {_ENVIRONMENT} Conversation.app_version "
            "Conversation.updated_at "
            "Conversation.archived"
        ),
        "of other tools: source-specific fields, ids of messages, stop reasons, kinds of tools": (
            f"{_SOURCE_FIELDS_OF_CONVERSATION} Text.extra ToolCall.extra ToolResult.extra Media.extra "
            f"Message.extra {_NATIVE} Message.stop_reason ToolCall.kind ToolResult.name Media.size "
            "Message.made_id Conversation.made_id Link.message_id Link.call_id"
        ),
    },
    "cooked": {
        "the conversation of a request, with its title, project, summaries and feedback": (
            f"{_CONVERSATION_IDS} {_TITLE} {_TIMES} {_PLACE} {_ENVIRONMENT} Conversation.app_version "
            "Conversation.product Conversation.account_id Conversation.archived Conversation.only_prompts "
            "Conversation.head_id Conversation.link Conversation.made_id Conversation.summaries "
            "Conversation.feedback"
        ),
        "events": "Event",
        "media, except for a placeholder": "Media.data Media.mime Media.size",
        "citations, code languages, signatures and encrypted reasoning": (
            f"Text.citations Code.language {_CODE_PLACE} Reasoning.signature Reasoning.encrypted"
        ),
        "token usage, stop reasons, request parameters, all choices but the first": (
            "Message.usage Message.stop_reason Request.extra Request.since_id"
        ),
        "memories": "Memory",
        "source-specific fields, kinds of tools and content, hidden and side-chain flags": (
            f"{_SOURCE_FIELDS} Tool.extra ToolCall.kind ToolResult.name ToolResult.native Other.name "
            "Text.injected Message.hidden Message.sidechain Message.made_id"
        ),
    },
    "gemini-cli": {
        "memories, and conversations without messages or with prompts alone": "Memory",
        "of other tools: branches other than the current one, and events": "Event",
        "of other tools: reasoning, as it is signed by one service": "Reasoning",
        "of other tools: token usage and cost": "Message.usage",
        "of other tools: parts of unknown kinds, citations, and places of code": "Other Text.citations Code",
        "tools, requests, feedback and tags, branch and commit, and all summaries but the title": (
            "Conversation.tools Conversation.requests Conversation.feedback Conversation.tags "
            "Conversation.git_branch Conversation.git_commit Conversation.summaries"
        ),
        "of other tools: account, environment, version, model and end of the conversation": (
            f"Conversation.product Conversation.account_id {_ENVIRONMENT} Conversation.app_version "
            "Conversation.model "
            "Conversation.updated_at Conversation.archived"
        ),
        "of other tools: source-specific fields, stop reasons, kinds of tools, generated ids": (
            f"{_SOURCE_FIELDS_OF_CONVERSATION} Text.extra ToolCall.extra ToolResult.extra Media.extra "
            f"Message.extra {_NATIVE} Message.stop_reason ToolCall.kind ToolResult.name Media.size "
            "Message.made_id Conversation.made_id Link.message_id Link.call_id"
        ),
    },
    "handoff": {
        "memories": "Memory",
        "all but requests, plans, files, commands, errors and the last message; the middle of long texts": (
            f"Conversation.app_version Conversation.account_id {_ENVIRONMENT} Conversation.archived "
            "Conversation.tags Conversation.only_prompts Conversation.made_id Conversation.feedback "
            f"Conversation.tools Conversation.requests {_SOURCE_FIELDS} {_NATIVE} Code Other Reasoning "
            "Event.name Event.data Event.made_id Link.call_id Link.message_id Message.made_id "
            "Message.response_id Message.usage Summary.at Summary.extra Summary.kind Summary.message_id "
            "Text.citations ToolResult.name"
        ),
        "branches other than the current one": "",
    },
    "html": {
        "source-specific fields (extra other than exit codes, platform, context) and native content": (
            f"{_SOURCE_FIELDS.replace(' ToolResult.extra', '')} Citation.extra Feedback.extra Memory.extra "
            f"Summary.extra Tool.extra {_NATIVE}"
        ),
        "requests, except for the reasons they failed; parameters of tools": f"{_REQUESTS} Tool.parameters",
        "signatures and encrypted reasoning": "Reasoning.signature",
        "in one document: files that are neither images nor text": "",
        "response ids, stop reasons, shares of token counts, positions of citations": (
            f"Message.response_id Message.stop_reason {_USAGE_SHARES} Citation.start Citation.end"
        ),
        "times and kinds of summaries and feedback; accounts of memories; generated ids": (
            "Feedback.at Summary.at Summary.kind Summary.message_id Memory.account_id Memory.made_id "
            "Conversation.made_id Message.made_id Event.made_id Link.call_id"
        ),
    },
    "json": {},
    "markdown": {
        "token usage of single messages": "",
        "offered tools; requests, except for the reasons they failed": f"Conversation.tools {_REQUESTS}",
        "signatures and encrypted reasoning": "Reasoning.signature Reasoning.encrypted",
        "source-specific fields": (
            f"{_SOURCE_FIELDS} Citation.extra Feedback.extra Memory.extra Summary.extra {_NATIVE}"
        ),
        "account, editor, system and shell; whether it is archived": (
            f"Conversation.account_id Memory.account_id {_ENVIRONMENT} Conversation.archived"
        ),
        "response ids, stop reasons, shares of token counts, positions of citations": (
            f"Message.response_id Message.stop_reason {_USAGE_SHARES} Citation.start Citation.end"
        ),
        "times of feedback; messages that summaries and links refer to; generated ids": (
            "Feedback.at Summary.message_id Link.message_id Link.call_id Conversation.made_id "
            "Message.made_id Event.made_id Memory.made_id"
        ),
    },
    "openai-messages": {
        "memories": "Memory",
        "events": "Event",
        "reasoning": "Reasoning",
        "ids, times, models, token usage and cost": (
            f"Conversation.id {_TIMES} Conversation.model Message.at Message.model Message.made_id "
            "Message.usage"
        ),
        "conversation metadata other than tools": f"{_TRAINING_METADATA} {_TRAINING_REQUESTS}",
        "media other than images in prompts": "Media.size",
        "failure status of tool calls": "ToolResult.is_error",
        "calls without a result, except the last; results without a call": "",
        "branches without a message of the model": "",
        "redaction records": "",
        "citations and source-specific fields": (
            f"Text.citations {_SOURCE_FIELDS} Tool.extra {_NATIVE} {_CODE_PLACE} Other.name ToolCall.kind "
            "ToolResult.name"
        ),
        "stop reasons, and hidden and side-chain flags": (
            "Message.stop_reason Message.hidden Message.sidechain"
        ),
    },
    "pam": {"native content": _NATIVE, "memories marked as not exportable": ""},
    "parquet": {
        "memories": "Memory",
        "events": "Event",
        "of a conversation: summaries, feedback, tools, requests and source-specific fields": (
            "Conversation.summaries Conversation.feedback Conversation.tools Conversation.requests "
            f"{_SOURCE_FIELDS_OF_CONVERSATION}"
        ),
        "of a conversation: times, model, version, account, environment, commit, tags and flags": (
            f"{_TIMES} Conversation.model Conversation.app_version Conversation.account_id {_ENVIRONMENT} "
            "Conversation.product Conversation.git_commit Conversation.tags Conversation.archived "
            "Conversation.only_prompts Conversation.made_id Link.message_id Link.call_id"
        ),
    },
    "qwen-code": {
        "memories, and conversations without messages or with prompts alone": "Memory",
        "of other tools: branches other than the current one, events, and system prompts": "Event",
        "of other tools: reasoning, as it is signed by one service": "Reasoning",
        "of other tools: token usage and cost": "Message.usage",
        "of other tools: parts of unknown kinds, citations, and places of code": "Other Text.citations Code",
        "tools, requests, feedback, tags and summaries, commit, and links": (
            "Conversation.tools Conversation.requests Conversation.feedback Conversation.tags "
            "Conversation.git_commit Conversation.summaries Conversation.link"
        ),
        "of other tools: account, environment, version, model and end of the conversation": (
            f"Conversation.product Conversation.account_id {_ENVIRONMENT} Conversation.app_version "
            "Conversation.model Conversation.updated_at Conversation.archived"
        ),
        "of other tools: source-specific fields, stop reasons, kinds of tools, generated ids": (
            f"{_SOURCE_FIELDS_OF_CONVERSATION} Text.extra ToolCall.extra ToolResult.extra Media.extra "
            f"Message.extra {_NATIVE} Message.stop_reason ToolCall.kind ToolResult.name Media.size "
            "Message.made_id Conversation.made_id"
        ),
    },
    "session": {
        "memories": "Memory",
        "events": "Event.name Event.data Event.made_id",
        "token usage and cost": "Message.usage",
        "links between conversations": "Conversation.link",
        "citations, feedback, tags, and all summaries but the last": (
            "Text.citations Conversation.feedback Conversation.tags Summary.at Summary.kind "
            "Summary.message_id Summary.extra"
        ),
        "tools and requests": "Conversation.tools Conversation.requests",
        "the current branch and hidden flags": ("Conversation.head_id Conversation.shape Message.sidechain"),
        "source-specific fields": f"{_SOURCE_FIELDS_OF_CONVERSATION} Message.extra",
        "account, environment, commit and model of the conversation; whether it is archived": (
            f"Conversation.account_id {_ENVIRONMENT} Conversation.git_commit Conversation.model "
            "Conversation.product Conversation.archived Conversation.only_prompts"
        ),
        "response ids, stop reasons, generated ids, kinds of tools": (
            "Message.response_id Message.stop_reason Message.made_id Conversation.made_id ToolCall.kind "
            "ToolResult.name ToolResult.native"
        ),
    },
    "pi": {
        "memories, and conversations without messages or with prompts alone": "Memory",
        "of other tools: branches other than the current one, events, and system prompts": "Event",
        "of other tools: reasoning, as it is signed by one service": "Reasoning",
        "of other tools: token usage and cost": "Message.usage",
        "of other tools: parts of unknown kinds, citations, and places of code": "Other Text.citations Code",
        "tools, requests, feedback, tags and summaries, branch and commit, and links": (
            "Conversation.tools Conversation.requests Conversation.feedback Conversation.tags "
            "Conversation.git_branch Conversation.git_commit Conversation.summaries Conversation.link"
        ),
        "of other tools: account, environment, version, model and end of the conversation": (
            f"Conversation.product Conversation.account_id {_ENVIRONMENT} Conversation.app_version "
            "Conversation.model Conversation.updated_at Conversation.archived"
        ),
        "of other tools: source-specific fields, stop reasons, kinds of tools, ids": (
            f"{_SOURCE_FIELDS_OF_CONVERSATION} Text.extra ToolCall.extra ToolResult.extra Media.extra "
            f"Message.extra {_NATIVE} Message.stop_reason ToolCall.kind ToolResult.name Media.size "
            "Message.made_id Conversation.made_id"
        ),
    },
    "sharegpt": {
        "memories": "Memory",
        "events": "Event",
        "ids of messages and calls, times, models, token usage and cost": (
            f"{_TIMES} Conversation.model Message.at Message.model Message.made_id Message.response_id "
            "Message.usage"
        ),
        "conversation metadata other than the id and tools": f"{_TRAINING_METADATA} {_TRAINING_REQUESTS}",
        "media": "Media.data Media.mime Media.size",
        "failure status of tool calls": "ToolResult.is_error",
        "calls without a result, except the last; results without a call": "",
        "model messages before the first prompt; prompts and results the model did not respond to": "",
        "system messages and hidden program text after the start": "",
        "redaction records": "",
        "citations and source-specific fields": (
            f"Text.citations {_SOURCE_FIELDS} Tool.extra {_NATIVE} {_CODE_PLACE} Other.name ToolCall.kind "
            "ToolResult.name"
        ),
        "signatures and encrypted reasoning; stop reasons and side-chain flags": (
            "Reasoning.signature Reasoning.encrypted Message.stop_reason Message.sidechain"
        ),
    },
    "text": {
        "in one document: images and files, except for their names": "",
        "token usage of single messages": "",
        "offered tools; requests, except for the reasons they failed": f"Conversation.tools {_REQUESTS}",
        "signatures and encrypted reasoning": "Reasoning.signature Reasoning.encrypted",
        "source-specific fields": (
            f"{_SOURCE_FIELDS} Citation.extra Feedback.extra Memory.extra Summary.extra {_NATIVE}"
        ),
        "account, editor, system and shell; whether it is archived": (
            f"Conversation.account_id Memory.account_id {_ENVIRONMENT} Conversation.archived"
        ),
        "response ids, stop reasons, shares of token counts, positions of citations": (
            f"Message.response_id Message.stop_reason {_USAGE_SHARES} Citation.start Citation.end"
        ),
        "times of feedback; kinds of summaries and tools; generated ids": (
            "Feedback.at Summary.kind Summary.message_id Link.message_id Link.call_id ToolCall.kind "
            "Conversation.made_id Message.made_id Event.made_id Memory.made_id"
        ),
    },
    "unified": {"memories": "Memory", "native content": _NATIVE},
}
