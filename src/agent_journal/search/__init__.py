"""Finding what was said: what people type, the index of words, and what is put into it.

Nothing here knows the archive: it gives entries and gets keys back.
"""
