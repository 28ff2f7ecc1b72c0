"""A child that prints the state that the fork left in it, then each line that it gets: ``python -m
tests.engine.serving.processes.forked WHAT``."""

import json
import os
import random
import sys
import threading
from typing import Any


def facts() -> dict[str, Any]:
    numpy, torch, own = sys.modules.get("numpy"), sys.modules.get("torch"), "/proc/self"
    drawn = [random.random(), *([numpy.random.rand()] if numpy else []), *([torch.rand(1).item()] if torch else [])]
    return {
        "random": drawn,
        "threads": threading.active_count(),
        "system threads": len(os.listdir(f"{own}/task")) if os.path.isdir(own) else 1,
        "files": sorted(int(name) for name in os.listdir(f"{own}/fd"))[:-1] if os.path.isdir(own) else [],
        "environment": dict(os.environ),
        "cuda": torch is not None and torch.cuda.is_initialized(),
        "parent": os.getppid(),
        "arguments": sys.argv[1:],
    }


def main() -> None:
    if sys.argv[1] == "exits":
        sys.exit(3)
    if sys.argv[1] == "raises":
        raise RuntimeError("on purpose")
    print(json.dumps(facts()), flush=True)
    for line in sys.stdin:
        print(json.dumps(line.strip()), flush=True)


if __name__ == "__main__":
    main()
