"""The HTTP server: picks the API by the path, answers as the script says, and logs each exchange."""

from __future__ import annotations

import gzip
import json
import re
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import ModuleType
from typing import Any, ClassVar

import zstandard

from tests.real_tools.fake_model import anthropic, chat, gemini, responses
from tests.real_tools.fake_model.exchange import Exchange, Reply
from tests.real_tools.fake_model.script import is_subagent, reply_to

MODELS = ("claude-sonnet-4-6", "claude-haiku-4-5", "gpt-5.2-codex", "gpt-5.5", "gemini-3-pro", "fake-model")
_HANG_S = 60.0
_GEMINI_CALL = re.compile(r"/models/([^:/]+):(\w+)$")


class FakeModel:
    """A model on a free port of loopback; `exchanges` is what it was asked and what it answered."""

    def __init__(self) -> None:
        self.exchanges: list[Exchange] = []
        self.requests: list[dict[str, Any]] = []
        self.refused: list[str] = []
        self.hanging = threading.Event()
        self.stopped = threading.Event()
        self._lock = threading.Lock()
        self._count = 0
        handler = type("Handler", (_Handler,), {"model": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def next_number(self) -> int:
        with self._lock:
            self._count += 1
            return self._count

    def close(self) -> None:
        self.stopped.set()
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: ClassVar[FakeModel]

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing: what was asked is in `exchanges`."""

    def do_GET(self) -> None:
        path = self.path.partition("?")[0].rstrip("/")
        if not path.endswith("/models"):
            self._refuse(path)
        elif "v1beta" in path:
            methods = ["generateContent"]
            models = [{"name": f"models/{name}", "supportedGenerationMethods": methods} for name in MODELS]
            self._send_json({"models": models})
        else:
            self._send_json(
                {"object": "list", "has_more": False, "data": [_about_model(name) for name in MODELS]}
            )

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_POST(self) -> None:
        raw = self._body()
        path = self.path.partition("?")[0].rstrip("/")
        try:
            body = json.loads(raw or b"{}")
        except ValueError:
            self._refuse(path)
            return
        try:
            self._answer(path, body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the client was interrupted

    def _answer(self, path: str, body: dict[str, Any]) -> None:
        gemini_call = _GEMINI_CALL.search(path)
        if gemini_call:
            name, verb = gemini_call.groups()
            if verb == "countTokens":
                self._send_json({"totalTokens": 1234})
            elif verb.endswith("enerateContent") or verb.startswith("stream"):
                self._exchange(gemini, body | {"model": name}, is_stream=verb.startswith("stream"))
            else:
                self._refuse(path)
        elif path.endswith("/count_tokens"):
            self._send_json({"input_tokens": 1234})
        else:
            api = _api_of(path)
            if api:
                self._exchange(api, body, is_stream=bool(body.get("stream")))
            else:
                self._refuse(path)

    def _exchange(self, api: ModuleType, body: dict[str, Any], *, is_stream: bool) -> None:
        number = self.model.next_number()
        asked = api.parse(body)
        reply = reply_to(asked, number)
        response = api.answer(body, reply, number)
        self.model.requests.append({"number": number, "path": self.path, "body": body, "response": response})
        self.model.exchanges.append(
            Exchange(
                number=number,
                at=time.time(),
                model=body.get("model") or "",
                purpose=reply.purpose,
                text=reply.text,
                thinking=api.thinking(response),
                calls=api.calls(response),
                results=asked.results,
                tokens=api.tokens(response),
                is_interrupted=reply.hang,
                is_subagent=is_subagent(asked),
            )
        )
        if is_stream:
            self._send_stream(api.stream(response, body), reply)
        else:
            self._send_json(response)

    def _body(self) -> bytes:
        length = self.headers.get("Content-Length")
        raw = self.rfile.read(int(length)) if length else b"".join(self._chunks())
        encoding = self.headers.get("Content-Encoding")
        if encoding == "gzip":
            return gzip.decompress(raw)
        return zstandard.ZstdDecompressor().decompressobj().decompress(raw) if encoding == "zstd" else raw

    def _chunks(self) -> Iterator[bytes]:
        if "chunked" not in (self.headers.get("Transfer-Encoding") or ""):
            return
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def _refuse(self, path: str) -> None:
        self.model.refused.append(f"{self.command} {path}")
        self._send_json({"error": {"message": f"not here: {path}", "type": "not_found_error"}}, 404)

    def _send_json(self, value: Any, status: int = 200) -> None:
        raw = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.send_header("request-id", "req_fake")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(raw)

    def _send_stream(self, events: Iterator[anthropic.Event], reply: Reply) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-cache")
        self.send_header("request-id", "req_fake")
        self.send_header("Connection", "close")
        self.end_headers()
        half = json.dumps(reply.text[: len(reply.text) // 2])[1:-1]
        for name, data in events:
            text = data if isinstance(data, str) else json.dumps(data)
            self.wfile.write((f"event: {name}\n" if name else "").encode() + f"data: {text}\n\n".encode())
            self.wfile.flush()
            if reply.hang and half and half in text:
                self.model.hanging.set()
                self.model.stopped.wait(_HANG_S)
                break
        self.close_connection = True


def _api_of(path: str) -> ModuleType | None:
    endings = {"/messages": anthropic, "/chat/completions": chat, "/responses": responses}
    return next((api for ending, api in endings.items() if path.endswith(ending)), None)


def _about_model(name: str) -> dict[str, Any]:
    return {
        "id": name,
        "object": "model",
        "type": "model",
        "display_name": name,
        "created": 1_700_000_000,
        "created_at": "2026-01-01T00:00:00Z",
        "owned_by": "fake",
        "context_length": 200_000,
    }
