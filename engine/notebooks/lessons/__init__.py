"""The notebooks themselves. They are run cell by cell, not imported."""
