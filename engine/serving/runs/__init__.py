"""The runs on their way: in the queue, on a worker, checkpointed."""
