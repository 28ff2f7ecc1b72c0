"""The descriptors of this process, that is its open files and connections: their number and their uses."""

import sys

MAX_DESCRIPTORS = 10_240  # macOS allows a process no more, whatever its limit says
RESERVED = 128  # for the program itself: its files, and the pipes of its workers and questions
# For each tab. A tab has four, and three while a session whose tab is closed can be continued; the others are for its requests.
DESCRIPTORS_PER_TAB = 12


def allowed() -> int:
    """The number of descriptors that this process may have after :func:`raise_limit`."""
    if sys.platform == "win32":
        return MAX_DESCRIPTORS
    import resource

    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return MAX_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, MAX_DESCRIPTORS)


def raise_limit() -> None:
    if sys.platform == "win32":
        return
    import resource

    # most systems allow 1,024 at first, or 256, and more to a process that asks for them; Windows has no such limit
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < allowed():
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed(), hard))


def for_tabs() -> int:
    return max(8, (allowed() - RESERVED) // DESCRIPTORS_PER_TAB)


def for_requests() -> int:
    return max(16, allowed() // 5)
