"""Histories of each source, made to be measured: one module per reader.

A module has `KINDS`: for each kind of history what makes it, `make(folder, megabytes)`, which gives the paths
to read. The same bytes every time; texts and tool outputs have the sizes that they have in the field.
"""
