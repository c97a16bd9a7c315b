"""Runs real agents and the conformance suite of the Model Context Protocol against `aj mcp`."""
