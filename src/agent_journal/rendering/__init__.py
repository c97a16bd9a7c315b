"""Conversations as HTML: one renderer for the HTML writer and the web page, which frame it differently."""
