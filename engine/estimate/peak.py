from engine.config.run_config import RunConfig
from engine.settings.costs import Memory
def peak_bytes(config: RunConfig, memory: Memory) -> int:
    return 0
