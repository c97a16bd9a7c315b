"""Agent Journal: every conversation with an AI, read from where it lies, written in any format."""

__version__ = "0.1.0"
