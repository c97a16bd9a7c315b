"""Text for people: formatted numbers, short descriptions, sanitized text."""
