"""The mark of tests that fail as long as “Which one should I use?” reads its text with ten symbols, and no longer."""

import pytest

CHOICE_HAS_TEN_SYMBOLS = pytest.mark.xfail(strict=True, reason="its text is read with ten symbols")
