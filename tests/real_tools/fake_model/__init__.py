"""A model server on loopback that does what the prompt says and logs every exchange.

It speaks the Anthropic Messages, OpenAI Chat Completions, OpenAI Responses and Gemini APIs, streaming too.
What it answers is written in the prompt; see `script`.
"""
