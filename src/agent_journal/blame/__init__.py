"""Who changed a file: the edits of all tools, and which of them each line comes from.

| module | contents |
|---|---|
| `target` | the file that is asked about, and whether a recorded path means it |
| `edits` | the changes of files that messages record, and the moves of files |
| `lines` | which edit each line of a file comes from |
| `git` | what `git blame` says about the same lines |

Nothing here reads a journal: `journal` provides the messages.
"""
