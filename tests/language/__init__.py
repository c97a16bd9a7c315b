"""The language of the source code: words that have a plainer name, and numbers without a unit."""
