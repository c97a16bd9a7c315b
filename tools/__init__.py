"""Commands for maintainers; run from the top of the checkout."""
