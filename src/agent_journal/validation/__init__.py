"""What a written document must hold, and the schemas of the targets."""
