"""Serves an agent that started this process, by standard input and output."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import anyio
import mcp_types as types
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from agent_journal.mcp.server import TIMEOUT_S, create_server

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.shared._stream_protocols import ReadStream, WriteStream

    from agent_journal.mcp.service import Service

    Incoming: TypeAlias = SessionMessage | Exception


def serve_stdio(service: Service) -> None:
    """Serve until the agent closes standard input, and what it asked for before is answered."""
    anyio.run(_serve, service)


async def _serve(service: Service) -> None:
    server = create_server(service)
    send_in, receive_in = anyio.create_memory_object_stream["Incoming"](0)
    send_out, receive_out = anyio.create_memory_object_stream[SessionMessage](0)
    async with stdio_server() as (read, write), anyio.create_task_group() as tasks:
        relay = _Relay()
        tasks.start_soon(relay.pass_in, read, send_in, write)
        tasks.start_soon(relay.pass_out, receive_out, write)
        await server.run(receive_in, send_out, server.create_initialization_options())
        tasks.cancel_scope.cancel()


class _Relay:
    """Passes messages on; answers what is no message, and lets the server finish when the input ends."""

    def __init__(self) -> None:
        self._unanswered: set[types.RequestId] = set()
        self._answered = anyio.Event()

    async def pass_in(
        self,
        read: ReadStream[Incoming],
        send: MemoryObjectSendStream[Incoming],
        write: WriteStream[SessionMessage],
    ) -> None:
        """Pass on what the agent sends."""
        async with send:
            async for item in read:
                if isinstance(item, Exception):
                    await write.send(SessionMessage(_error_for(item)))
                    continue
                if isinstance(item.message, types.JSONRPCRequest):
                    self._unanswered.add(item.message.id)
                await send.send(item)
            with anyio.move_on_after(TIMEOUT_S):
                while self._unanswered:
                    self._answered = anyio.Event()
                    await self._answered.wait()

    async def pass_out(
        self, receive: MemoryObjectReceiveStream[SessionMessage], write: WriteStream[SessionMessage]
    ) -> None:
        """Pass on what the server answers."""
        async with receive, write:
            async for item in receive:
                await write.send(item)
                if isinstance(item.message, types.JSONRPCResponse | types.JSONRPCError):
                    self._unanswered.discard(item.message.id or "")
                    self._answered.set()


def _error_for(error: Exception) -> types.JSONRPCError:
    is_json = not (
        isinstance(error, ValidationError) and any(each["type"] == "json_invalid" for each in error.errors())
    )
    code, message = (
        (types.INVALID_REQUEST, "Invalid request") if is_json else (types.PARSE_ERROR, "Parse error")
    )
    return types.JSONRPCError(jsonrpc="2.0", id=None, error=types.ErrorData(code=code, message=message))
