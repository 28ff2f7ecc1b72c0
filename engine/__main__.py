"""``python -m engine``: the engine without a screen."""

import signal
import sys

ON_CTRL_C = signal.getsignal(signal.SIGINT)  # who starts it in the background may have it ignored
if ON_CTRL_C is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until a command runs there is nothing to tell

from engine.cli import main  # noqa: E402

signal.signal(signal.SIGINT, ON_CTRL_C)
signal.signal(signal.SIGTERM, signal.default_int_handler)  # a command ends as with Ctrl-C
sys.exit(main())
