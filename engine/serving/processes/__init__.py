"""The worker processes: on which machines, how they are started, watched and ended, and which takes what."""
