"""An encoding put together from parts on the page Design."""
