"""Text for people: numbers as they read them, descriptions in a few words, nothing that misleads."""
