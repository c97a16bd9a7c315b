"""Semantic search: texts and questions as vectors, which are close together if the meaning is similar.

Nothing here knows the archive: it takes keys with texts and returns keys.
"""
