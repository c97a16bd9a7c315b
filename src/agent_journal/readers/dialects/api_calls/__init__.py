"""Recorded calls of chat APIs: what was sent, what came back, and the dialogues that the calls belong to.

A reader takes each record of its source apart to an `Exchange` and gives it to `Stitching`.
"""
