"""xPos: a rotation whose products decay with distance."""
