"""What an input is: one look at it, which every reader judges by itself."""
