"""The web page: read and search a journal in a browser.

| module | contents |
|---|---|
| `server` | listens on this machine, ends by itself when idle |
| `guard`, `access` | who may ask: hosts, origins, the link that opens the page once, the cookie after it |
| `app` | which address leads to which view |
| `journal_access` | everything that the views ask of the journal |
| `addresses` | the URLs of the page |
| `templating` | templates, in which every value passes through the one escaping function |
| `views/` | one module per kind of page |

Only `aj web` imports it, because its packages take longer to import than a search takes.
"""
