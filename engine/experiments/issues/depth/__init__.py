"""Issues of depth."""
