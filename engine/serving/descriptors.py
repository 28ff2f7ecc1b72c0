"""The descriptors of this process, that is its open files and connections: how many it may have, and for what they are set aside."""

import sys

MAX_DESCRIPTORS = 10_240
"""The most descriptors that a server makes use of; macOS allows a process no more, whatever its limit says."""
RESERVED = 128
"""Those of the program itself: its files, and the pipes of its workers and questions."""
OF_A_TAB = 12
"""Those that are set aside for each tab. A tab has four, and three while a session whose tab is closed waits to be taken up again; the
others are for its requests."""


def allowed() -> int:
    """The number of descriptors that this process may have once :func:`raise_limit` was called."""
    if sys.platform == "win32":
        return MAX_DESCRIPTORS
    import resource

    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return MAX_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, MAX_DESCRIPTORS)


def raise_limit() -> None:
    """Allow this process, and those that it starts from now on, :func:`allowed` descriptors. Most systems allow 1,024 at first, or 256,
    and more to a process that asks for them. Windows has no such limit."""
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < allowed():
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed(), hard))


def for_tabs() -> int:
    """The number of tabs of everybody for which there are descriptors."""
    return max(8, (allowed() - RESERVED) // OF_A_TAB)


def for_requests() -> int:
    """The number of connections besides those of tabs for which there are descriptors."""
    return max(16, allowed() // 5)
