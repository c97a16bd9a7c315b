"""Formats that several readers share. Nothing in here is a reader."""
