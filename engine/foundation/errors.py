class Explained(Exception):
    """An error whose message is one sentence for a person: the given and the allowed value, or the failure."""


class Refused(Explained, ValueError):
    """A request that is not done; the sentence says why. For a run it also says which setting to lower, and to which value."""


class NoRoom(Refused):
    """Refused because a queue or a class is full, so that a later try may succeed; also because a class is over."""


class NoWorkers(Explained, RuntimeError):
    pass


class JobError(Explained, RuntimeError):
    pass


# in torch's messages: on CUDA, and on a CPU under Linux and Windows
NO_MEMORY = ("out of memory", "can't allocate memory", "not enough memory")


def error_in_words(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    if isinstance(error, MemoryError) or any(words in str(error).lower() for words in NO_MEMORY):
        return "The machine ran out of memory; a smaller batch_size or seq_len needs less."
    if isinstance(error, ValueError) and lines:
        return lines[0]
    if isinstance(error, OSError):  # its message may name a path of this machine
        lines = [error.strerror] if error.strerror else []
    detail = f": {lines[0]}" if lines else ""
    return f"An error ended it ({type(error).__name__}{detail})."
