"""Runs real tools against a fake model and compares what they wrote with what the model was asked."""
