"""The web page: its guarantees over real sockets, and its flows in a real browser."""
