"""Finding by meaning: texts and questions as vectors, where what means the same lies close together.

Nothing here knows the archive: it gets keys with texts and gives keys back.
"""
