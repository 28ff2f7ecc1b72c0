"""The screens: one thin file a page; what pages share is in :mod:`pages.parts`."""
