"""Search: queries, the word index, the entries to index, and semantic search.

Nothing here knows the archive: it passes entries and gets keys back.
"""
