"""The parts of the page on which a person puts an encoding together."""
