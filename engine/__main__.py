"""``python -m engine``: the engine without a screen."""

import sys

from engine.cli import main

sys.exit(main())
