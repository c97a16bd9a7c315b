"""Signatures of agent records: who vouches for which bytes, and a verifier that takes nothing on trust.

A signature says that bytes are unchanged since the holder of a key signed them. It says nothing about
whether what the bytes state is true.
"""
