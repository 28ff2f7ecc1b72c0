"""How evidence is gathered and weighed: trials, experiments over the worker pool, statistics, what is kept."""
