"""The errors whose message is meant for the reader, and any error as one sentence for a reader."""


class Explained(Exception):
    """An error whose message is one sentence for a person: the given and the allowed value, or the failure."""


class Refused(Explained, ValueError):
    """What was asked for is not done; the sentence says why. For a run it also says which setting to lower, and to which value."""


class NoRoom(Refused):
    """Refused for lack of room, as in a full queue or class, where there may be some later; also where a class is not there any more."""


class NoWorkers(Explained, RuntimeError):
    """No worker process can be started; the sentence says so."""


class JobError(Explained, RuntimeError):
    """A job failed; the sentence says why."""


NO_MEMORY = ("out of memory", "can't allocate memory", "not enough memory")
"""Words of torch's messages where there is no memory left: on CUDA, and on a CPU under Linux and Windows."""


def error_in_words(error: BaseException) -> str:
    """The message of an exception as one sentence for a person."""
    lines = str(error).strip().splitlines()
    if isinstance(error, MemoryError) or any(words in str(error).lower() for words in NO_MEMORY):
        return "The machine ran out of memory; a smaller batch_size or seq_len needs less."
    if isinstance(error, ValueError) and lines:
        return lines[0]
    if isinstance(error, OSError):  # its message may name a path of this machine
        lines = [error.strerror] if error.strerror else []
    detail = f": {lines[0]}" if lines else ""
    return f"An error ended it ({type(error).__name__}{detail})."
