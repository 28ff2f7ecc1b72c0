"""The files that start a cluster on Kubernetes name the same things everywhere."""

from pathlib import Path
from typing import Any

import yaml

KUBERNETES = Path(__file__).parents[1] / "deploy" / "kubernetes"


def documents(name: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((KUBERNETES / name).read_text()))


def pods() -> list[dict[str, Any]]:
    settings, cluster, group = documents("cluster.yaml")
    app, _ = documents("app.yaml")
    assert settings["kind"] == "ConfigMap"
    workers = [kind["spec"]["worker"]["spec"] for kind in (cluster, group)]
    return [cluster["spec"]["scheduler"]["spec"], *workers, app["spec"]["template"]["spec"]]


def test_all_of_kubernetes_share_image_certificates_and_scheduler() -> None:
    settings = documents("cluster.yaml")[0]
    containers = [pod["containers"][0] for pod in pods()]
    assert len({container["image"] for container in containers}) == 1
    named = [{"configMapRef": {"name": settings["metadata"]["name"]}}]
    assert all(container["envFrom"] == named for container in containers)
    assert len({pod["volumes"][0]["secret"]["secretName"] for pod in pods()}) == 1
    assert all(container["volumeMounts"][0]["mountPath"] == "/tls" for container in containers)
    address = settings["data"]["DASK_SCHEDULER_ADDRESS"]
    assert {"name": "ATTENTION_LAB_SCHEDULER", "value": address} in containers[-1]["env"]
    assert address.startswith("tls://")


def test_each_worker_of_kubernetes_has_one_thread_and_the_memory_that_dask_is_told() -> None:
    for pod in pods()[1:3]:
        words, limits = pod["containers"][0]["args"], pod["containers"][0]["resources"]["limits"]
        assert words[words.index("--nthreads") + 1] == "1"
        assert words[words.index("--memory-limit") + 1] == f"{limits['memory']}B"
