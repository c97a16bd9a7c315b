"""Serves an agent that started this process, by standard input and output."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import anyio
import mcp_types as types
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from agent_journal.errors import AgentJournalError
from agent_journal.mcp.server import TIMEOUT_S, create_server

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.shared._stream_protocols import ReadStream, WriteStream

    from agent_journal.mcp.service import Service

    Incoming: TypeAlias = SessionMessage | Exception

_STANDARD_INPUT_ID = 0  # of its file descriptor
_BLOCK_BYTES = 1 << 16
_MAX_LINE_BYTES = 16_000_000


def serve_stdio(service: Service) -> None:
    """Serve until the agent closes standard input, and what it asked for before is answered."""
    try:
        os.read(_STANDARD_INPUT_ID, 0)
    except OSError as error:  # where it was closed, it is now open in the wrong mode
        raise AgentJournalError("Cannot serve an agent: standard input is closed.") from error
    terminate = signal.getsignal(signal.SIGTERM)
    is_terminated = anyio.run(_serve, service)
    if is_terminated and callable(terminate):
        terminate(signal.SIGTERM, None)


async def _serve(service: Service) -> bool:
    """Serve; returns whether SIGTERM ended it.

    An exception that a signal raises in the middle of the event loop would be reported as unhandled.
    """
    terminations: list[bool] = []
    lines = _InputLines()
    everything = anyio.CancelScope()

    def terminate() -> None:
        terminations.append(True)
        everything.cancel()

    with suppress(NotImplementedError):  # on Windows
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, terminate)
    with everything:
        await _relay_messages(service, lines)
    return bool(terminations)


async def _relay_messages(service: Service, lines: _InputLines) -> None:
    server = create_server(service)
    send_in, receive_in = anyio.create_memory_object_stream["Incoming"](0)
    send_out, receive_out = anyio.create_memory_object_stream[SessionMessage](0)
    async with (
        stdio_server(stdin=cast("anyio.AsyncFile[str]", lines)) as (read, write),
        anyio.create_task_group() as tasks,
    ):
        relay = _Relay()
        tasks.start_soon(relay.pass_in, read, send_in, write)
        tasks.start_soon(relay.pass_out, receive_out, write)
        await server.run(receive_in, send_out, server.create_initialization_options())
        tasks.cancel_scope.cancel()


class _InputLines:
    """The lines of standard input. Unlike for those of a file, waiting for them can be canceled by a signal.

    A thread reads them, which ends with the process. Other parts of the process read nothing meanwhile.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._send, self._receive = anyio.create_memory_object_stream[str](0)
        self._descriptor = os.dup(_STANDARD_INPUT_ID)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, _STANDARD_INPUT_ID)
        os.close(nothing)
        threading.Thread(target=self._read, name="standard input", daemon=True).start()

    def __aiter__(self) -> _InputLines:
        return self

    async def __anext__(self) -> str:
        try:
            return await self._receive.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    def _read(self) -> None:
        """Pass on line by line; one that is too long becomes an empty one, which is no message."""
        pending = bytearray()
        is_too_long = False
        with suppress(OSError, RuntimeError, anyio.BrokenResourceError):  # the process is about to end
            while block := os.read(self._descriptor, _BLOCK_BYTES):
                *complete, rest = block.split(b"\n")
                for line in complete:
                    pending += line
                    self._pass_on(b"" if is_too_long else bytes(pending))
                    pending.clear()
                    is_too_long = False
                pending += rest
                if len(pending) > _MAX_LINE_BYTES:
                    pending.clear()
                    is_too_long = True
            if pending:
                self._pass_on(bytes(pending))
            self._wait_for(self._send.aclose())

    def _pass_on(self, line: bytes) -> None:
        self._wait_for(self._send.send(line.decode("utf-8", "replace")))

    def _wait_for(self, step: Any) -> None:
        asyncio.run_coroutine_threadsafe(step, self._loop).result()


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
