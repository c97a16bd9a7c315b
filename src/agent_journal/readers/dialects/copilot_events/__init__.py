"""Sessions as the log of events that the vendor's command line tool writes, and its editor extension too."""
