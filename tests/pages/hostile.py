"""What is put into transcripts to run on the reader's side, and an item that has it in every field."""

from __future__ import annotations

from collections.abc import Iterator

from agent_journal.model import (
    Citation,
    Code,
    Conversation,
    Event,
    Feedback,
    Item,
    Link,
    Media,
    Memory,
    Message,
    Origin,
    Other,
    Part,
    Reasoning,
    Summary,
    Text,
    Tool,
    ToolCall,
    ToolResult,
)

# Each calls `pwned`, which a browser test defines and nothing else does.
XSS = [
    "<script>pwned()</script>",
    "</script><script>pwned()</script>",
    "<SCRIPT SRC=//evil.example/x.js></SCRIPT>",
    "<scr<script>ipt>pwned()</scr</script>ipt>",
    "<img src=x onerror=pwned()>",
    '"><img src=x onerror=pwned()>',
    "'><img src=x onerror=pwned()>",
    '" onmouseover="pwned()" autofocus onfocus="pwned()',
    "' onfocus='pwned()' autofocus='",
    "<svg onload=pwned()>",
    "<svg><script>pwned()</script></svg>",
    "<svg><animate onbegin=pwned() attributeName=x dur=1s>",
    "<math><mtext></p><img src onerror=pwned()></mtext></math>",
    "<body onload=pwned()>",
    "<iframe srcdoc='<script>parent.pwned()</script>'></iframe>",
    "<iframe src=javascript:parent.pwned()></iframe>",
    "<object data=javascript:pwned()></object>",
    "<embed src=javascript:pwned()>",
    "<details open ontoggle=pwned()>x</details>",
    "<input autofocus onfocus=pwned()>",
    "<video><source onerror=pwned()></video>",
    "<style>@import 'https://evil.example/x.css';</style>",
    "<link rel=stylesheet href=https://evil.example/x.css>",
    "<meta http-equiv=refresh content='0;url=javascript:pwned()'>",
    "<base href=https://evil.example/>",
    "<form action=javascript:pwned()><button autofocus>x</button></form>",
    "[a link](javascript:pwned())",
    "[a link](JaVaScRiPt&colon;pwned())",
    "[a link](\x01javascript:pwned())",
    "[a link](data:text/html;base64,PHNjcmlwdD5wd25lZCgpPC9zY3JpcHQ+)",
    "![a picture](https://evil.example/x.png)",
    '![a picture](javascript:pwned() "title")',
    "![x](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9cHduZWQoKT4=)",
    "<https://evil.example/\"onmouseover='pwned()'>",
    "<javascript:pwned()>",
    '```py" onmouseover="pwned()\ncode\n```',
    "[x]: javascript:pwned() 'title'\n\n[x]",
    "| a |\n|---|\n| <img src=x onerror=pwned()> | beyond |",
    "<!--><img src=x onerror=pwned()>-->",
    "<![CDATA[><script>pwned()</script>]]>",
    "<noscript><p title='</noscript><img src=x onerror=pwned()>'>",
    "<template><script>pwned()</script></template>",
    "<plaintext><xmp></style></title></textarea><script>pwned()</script>",
    "{{constructor.constructor('pwned()')()}} ${pwned()} <%= pwned() %>",
    "{{here}} {{script}} {{title}}",
    "\x1b]8;;javascript:pwned()\x1b\\x\x1b]8;;\x1b\\ \x1b[31mred\x1b[0m\x07",
    "\u202eevil\u202c \u2066x\u2069 \u200b\u200e \u2028\u2029",
    "\ufeffjavascript:pwned()",
    "&lt;script&gt;pwned()&lt;/script&gt; &#60;img src=x onerror=pwned()&#62; &#x202e;x",
    "＜script＞pwned()＜/script＞",
    "\x00\x01\x08\x0b\x0c\x0e\x1f\x7f\x80\x9f",
    "javascript:pwned()",
    "//evil.example/x.png",
    "../../../etc/passwd\x00.html",
]


class Fields:
    """The text for each field: what is hostile, and a word that tells where it is."""

    def __init__(self, payload: str) -> None:
        self._payload = payload
        self.words: list[str] = []

    def __call__(self) -> str:
        self.words.append(f"zq{len(self.words)}qz")
        return f"{self._payload} {self.words[-1]}"


def items(payload: str) -> tuple[list[Item], list[str]]:
    """Items that say something hostile wherever a source can say anything, and the words that tell where."""
    text = Fields(payload)
    parts: list[Part] = [
        Text(text=text(), citations=[Citation(title=text(), url=text(), text=text()), Citation(url=text())]),
        Code(code=text(), language=text(), file=text(), first_line=1),
        Reasoning(text=text(), summary=text()),
        ToolCall(name=text(), call_id="call", kind="shell", input={"command": text(), text(): text()}),
        ToolCall(
            name=text(), kind="edit", input={"old_string": text(), "new_string": text(), "file_path": text()}
        ),
        ToolCall(name=text(), input={"edits": [{"old_str": text(), "new_str": text(), "why": text()}]}),
        ToolCall(name=text(), input=text()),
        ToolCall(name=text(), input=[text(), {"a": text()}]),
        Media(kind="image", mime=text(), name=text(), ref=text(), data="PHN2ZyBvbmxvYWQ9cHduZWQoKT4="),
        Media(kind="image", mime="image/png", name=text(), data=payload),
        Media(kind="image", ref=text()),
        Media(kind="file", mime="text/html", name=text(), data="PHNjcmlwdD5wd25lZCgpPC9zY3JpcHQ+"),
        Other(data={"type": text(), text(): [text()]}, name=text()),
    ]
    result = ToolResult(call_id="call", name="x", output=text(), is_error=True)
    inner = ToolResult(
        call_id=payload,
        name=text(),
        output=[Text(text=text()), Media(kind="image", name=text(), data=payload)],
    )
    conversation = Conversation(
        id=text(),
        source="kitchen",
        title=text(),
        app_version=text(),
        model=text(),
        cwd=text(),
        git_branch=text(),
        git_commit=text(),
        account_id=text(),
        editor=text(),
        os=text(),
        shell=text(),
        tags=[text()],
        link=Link(conversation_id=text(), relation="subagent", message_id=payload),
        timeline=[
            Message(id=payload, role="user", parts=[Text(text=text())], at=text()),
            Event(id=f"{payload}e", parent_id=payload, name=text(), data={text(): text()}),
            Message(id=f"{payload}2", parent_id=payload, role="assistant", model=text(), parts=[*parts]),
            Message(id=f"{payload}3", parent_id=f"{payload}2", role="tool", parts=[result, inner]),
            Message(id=f"{payload}4", parent_id=payload, role="user", parts=[Text(text=text())]),
            Message(id=f"{payload}5", role="user", sidechain=True, hidden=True, parts=[Text(text=text())]),
        ],
        head_id=f"{payload}3",
        summaries=[Summary(text=text())],
        feedback=[Feedback(text=text()), Feedback(text=text(), message_id=payload, rating="up")],
        tools=[Tool(name=text(), description=text())],
        origin=Origin(reader="kitchen", version="1", revision=1, file=text(), sha256="0"),
        extra={"redactions": {text(): 1}},
    )
    memory = Memory(id=text(), source="pantry", kind=text(), text=text(), about=text())
    # A model is told by messages where they say one, and an id of a memory is nothing to read.
    unread = {text.words[_place(conversation.model, text.words)], text.words[_place(memory.id, text.words)]}
    return [conversation, memory], [word for word in text.words if word not in unread]


def _place(value: str | None, words: list[str]) -> int:
    return next(place for place, word in enumerate(words) if (value or "").endswith(f" {word}"))


def every_kind() -> Iterator[tuple[str, list[Item], list[str]]]:
    for payload in XSS:
        yield payload, *items(payload)
