from types import SimpleNamespace
from typing import Any

from engine.serving.health import Health
from engine.serving.processes.machines import APP_MACHINE, host_of


def worker(machine: str, ready: bool = True) -> Any:
    return SimpleNamespace(role="runs", ready=ready, machine=machine, address=machine)


def test_a_machine_is_on_the_host_of_its_address() -> None:
    hosts = {
        APP_MACHINE: "",
        "tls://10.0.0.7:40123": "10.0.0.7",
        "tls://[fd00::7]:40123": "fd00::7",
        "node-3": "node-3",
    }
    assert {name: host_of(name) for name in hosts} == hosts


def test_only_ready_workers_count_and_several_on_one_host_are_one_machine() -> None:
    there = [worker("tls://10.0.0.7:1"), worker("tls://10.0.0.7:2"), worker("tls://10.0.0.8:1")]
    health = Health([*there, worker(APP_MACHINE), worker("tls://10.0.0.9:1", ready=False)], 5, 0, 0, 0)
    assert health.ready == 4
    assert health.on_cluster == there
    assert health.hosts == {"10.0.0.7", "10.0.0.8", host_of(APP_MACHINE)}
