"""Drills: the archive under kills, full disks, crowds, hostile files and everything else that befalls it.

`python -m tests.gauntlet` runs them all as often as they are meant to be run, `python -m tests.gauntlet NAME`
one of them; the tests run each a few times.
"""
