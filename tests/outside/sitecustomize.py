"""Python imports this at its start where the folder is on PYTHONPATH: it keeps the process, and its children, off the network.

Each line of ``notes.jsonl`` beside this file is JSON: a process that began, or an address that one looked up or connected to. What is
not on this machine is written down and then refused. A test takes a copy of this file into a folder of its own.
"""

import ipaddress
import json
import os
import sys

FILE = os.path.join(os.path.dirname(__file__), "notes.jsonl")
OPENING = ("socket.connect", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo", "socket.gethostbyname")


def note(**what: object) -> None:
    line = json.dumps({"pid": os.getpid()} | what) + "\n"
    with open(FILE, "a", encoding="utf-8") as file:  # one short write: lines of several processes do not mix
        file.write(line)


def host_in(event: str, arguments: tuple[object, ...]) -> object:
    """The host an event is about; None if it names none, as a name in the file system does not."""
    if event in ("socket.getaddrinfo", "socket.gethostbyname"):
        return arguments[0]
    address = arguments[1]
    return address[0] if isinstance(address, tuple) else None


def on_this_machine(host: object) -> bool:
    name = host.decode() if isinstance(host, bytes) else str(host or "localhost")
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return name == "localhost"
    return address.is_loopback or address.is_unspecified  # the latter is every address one listens at


def watch(event: str, arguments: tuple[object, ...]) -> None:
    if event in OPENING and not on_this_machine(host := host_in(event, arguments)):
        note(event=event, host=str(host))
        raise OSError(f"{event} to {host}: this process may only speak with its own machine.")


note(began=sys.orig_argv)
sys.addaudithook(watch)
