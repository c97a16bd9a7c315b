"""From inputs to items, what is changed on the way, and from items to files."""
