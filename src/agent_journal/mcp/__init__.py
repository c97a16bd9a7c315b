"""The server for agents (Model Context Protocol): five tools that search and read the journal, and no other.

| module | contents |
|---|---|
| `definitions` | names, descriptions and schemas, which never change while the server runs |
| `arguments` | checks what an agent asks for |
| `scope` | which conversations may be returned at all |
| `excerpts` | texts of conversations: redacted, sanitized, shortened |
| `answers` | envelopes, and how much fits into an answer |
| `tools` | one module per tool |
| `service` | calls a tool: limits of time and rate, log |
| `server`, `stdio` | the protocol |
"""
