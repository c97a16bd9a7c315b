"""What each target that can be read again loses on the way: one module per target.

A module has `LOSSES`: for each thing that the writer's `INFO.loses` names, what takes it out of an item.
So it is proven both ways: an item that was written and read again equals the original once all that is
declared lost was taken out of both, and each loss occurs in some case.
"""
