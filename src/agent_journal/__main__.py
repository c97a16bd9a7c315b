"""`python -m agent_journal` is `aj`."""

from agent_journal.cli import main

main()
