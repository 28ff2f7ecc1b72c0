"""Parts of the design page, on which a reader builds an encoding."""
