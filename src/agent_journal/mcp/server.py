"""The protocol: tools, resources and a prompt, by the official SDK."""

from __future__ import annotations

from functools import partial
from importlib.resources import files as resources
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from agent_journal import __version__
from agent_journal.errors import AgentJournalError, BadArguments, NoSuchConversation, NoSuchMessage
from agent_journal.mcp.definitions import INSTRUCTIONS, MAX_QUERY_CHARS, TOOLS

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from agent_journal.mcp.answers import Envelope
    from agent_journal.mcp.service import Service

TIMEOUT_S = 30.0
_MAX_THREADS = 4
_MAX_CLIENT_CHARS = 80
_SCHEME = "aj://conversation/"
_MESSAGE = "/message/"
_MIME_TYPE = "application/json"
_APP_URI = "ui://agent-journal/hits"
_APP_TOOL = "search"
EXTENSION_ID, _APP_MIME_TYPE = "io.modelcontextprotocol/ui", "text/html;profile=mcp-app"
"""Of MCP Apps, as in `mcp.server.apps`, which takes long to import."""
_RECALL = "What do my past conversations with AI tools say about this? {question}"


def create_server(service: Service) -> Server[Any]:
    """Return the server of a service."""
    handlers = _Handlers(service)
    server: Server[Any] = Server(
        "agent-journal",
        version=__version__,
        title="Agent Journal",
        instructions=INSTRUCTIONS,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
    )
    server.extensions[EXTENSION_ID] = {}
    return server


class _Handlers:
    """What the server answers."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._threads = anyio.CapacityLimiter(_MAX_THREADS)

    async def list_tools(self, _context: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_tool(number) for number in range(len(TOOLS))])

    async def call_tool(
        self, context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        if params.name not in {each.name for each in TOOLS}:
            raise MCPError(types.INVALID_PARAMS, "Unknown tool")
        try:
            answer = await self._call(context, params.name, params.arguments or {})
        except AgentJournalError as error:
            return types.CallToolResult(content=[types.TextContent(text=str(error))], is_error=True)
        return types.CallToolResult(
            content=[types.TextContent(text=answer.text)], structured_content=answer.data
        )

    async def list_resources(
        self, context: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """List the last conversations."""
        arguments = {"cursor": params.cursor} if params is not None and params.cursor else {}
        try:
            answer = await self._call(context, "list", {**arguments, "project": "*"}, "resources/list")
        except BadArguments as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from error
        except AgentJournalError:  # without a journal there are none
            return types.ListResourcesResult(resources=[])
        return types.ListResourcesResult(
            resources=[
                types.Resource(
                    name=each["conversation"],
                    title=each.get("title"),
                    uri=f"{_SCHEME}{quote(each['conversation'], safe='')}",
                    mime_type=_MIME_TYPE,
                )
                for each in answer.data["conversations"]
            ],
            next_cursor=answer.data.get("next_cursor"),
        )

    async def list_templates(self, _context: Any, _params: Any) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(
            resource_templates=[
                types.ResourceTemplate(
                    name="conversation", uri_template=f"{_SCHEME}{{id}}", mime_type=_MIME_TYPE
                ),
                types.ResourceTemplate(
                    name="message", uri_template=f"{_SCHEME}{{id}}{_MESSAGE}{{message}}", mime_type=_MIME_TYPE
                ),
            ]
        )

    async def read_resource(
        self, context: ServerRequestContext[Any], params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        if uri == _APP_URI:
            return types.ReadResourceResult(contents=[_app()])
        conversation, _, message = uri.removeprefix(_SCHEME).partition(_MESSAGE)
        if not uri.startswith(_SCHEME) or not conversation:
            raise MCPError(types.INVALID_PARAMS, "Resource not found", {"uri": uri})
        arguments = {"conversation": unquote(conversation)}
        if message:
            arguments["message"] = unquote(message)
        try:
            answer = await self._call(context, "read", arguments, "resources/read")
        except (BadArguments, NoSuchConversation, NoSuchMessage) as error:
            raise MCPError(types.INVALID_PARAMS, "Resource not found", {"uri": uri}) from error
        except AgentJournalError as error:
            raise MCPError(types.INTERNAL_ERROR, str(error)) from error
        contents = types.TextResourceContents(uri=uri, mime_type=_MIME_TYPE, text=answer.text)
        return types.ReadResourceResult(contents=[contents])

    async def list_prompts(self, _context: Any, _params: Any) -> types.ListPromptsResult:
        return types.ListPromptsResult(
            prompts=[
                types.Prompt(
                    name="recall",
                    title="Recall",
                    description="Ask past conversations",
                    arguments=[types.PromptArgument(name="question", required=True)],
                )
            ]
        )

    async def get_prompt(self, _context: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        question = (params.arguments or {}).get("question", "").strip()
        if params.name != "recall":
            raise MCPError(types.INVALID_PARAMS, "Unknown prompt")
        if not question or len(question) > MAX_QUERY_CHARS:
            raise MCPError(types.INVALID_PARAMS, f"question: required, at most {MAX_QUERY_CHARS} characters")
        text = types.TextContent(text=_RECALL.format(question=question))
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=text)])

    async def _call(
        self,
        context: ServerRequestContext[Any],
        tool: str,
        arguments: dict[str, Any],
        logged_as: str = "",
    ) -> Envelope:
        """Call a tool in a thread; an answer that takes too long is given up."""
        client = context.session.client_params
        name = "" if client is None else client.client_info.name[:_MAX_CLIENT_CHARS]
        with anyio.move_on_after(TIMEOUT_S):
            return await anyio.to_thread.run_sync(
                partial(self._service.call, tool, arguments, name, logged_as=logged_as),
                abandon_on_cancel=True,
                limiter=self._threads,
            )
        raise AgentJournalError(f"No answer within {TIMEOUT_S:.0f} seconds.")


def _app() -> types.TextResourceContents:
    """Return the page that shows hits inside of their conversations, in clients that can show pages."""
    page = resources(__package__).joinpath("static", "hits.html").read_text(encoding="utf-8")
    return types.TextResourceContents(uri=_APP_URI, mime_type=_APP_MIME_TYPE, text=page)


def _tool(number: int) -> types.Tool:
    definition = TOOLS[number]
    return types.Tool(
        name=definition.name,
        title=definition.title,
        description=definition.description,
        input_schema=definition.input_schema,
        output_schema=definition.output_schema,
        annotations=types.ToolAnnotations(
            read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        ),
        _meta={"ui": {"resourceUri": _APP_URI}} if definition.name == _APP_TOOL else None,
    )
