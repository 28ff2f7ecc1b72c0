"""The pages of the app, one short file each. Their parts are in :mod:`pages.parts`."""
