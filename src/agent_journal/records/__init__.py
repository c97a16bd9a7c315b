"""Documents that can be verified: canonical JSON, the forms of agent records, checksums, signatures."""
