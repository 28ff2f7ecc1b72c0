"""The pages of the app, one short file each; :mod:`pages.parts` holds the parts that they use."""
