"""A scheduler here and workers as Slurm jobs, until Ctrl-C; needs ``pip install dask-jobqueue`` beside requirements-cluster.txt.

    .venv/bin/python deploy/slurm/cluster.py --jobs 8                         one core each
    .venv/bin/python deploy/slurm/cluster.py --jobs 2 --gpu --partition gpu   one GPU each
    .venv/bin/python deploy/slurm/cluster.py --show                           print the job and end

Run it on a machine that the compute nodes reach, such as the login node or the app's, after reading tls.env
(deploy/certificates.sh); the nodes must see the project's folder, its virtual environment and the certificates under the same paths.
"""

from __future__ import annotations

import argparse
import shlex
import signal
from pathlib import Path

from dask_jobqueue import SLURMCluster
from distributed import Security

PROJECT = Path(__file__).resolve().parents[2]


def cluster_of(given: argparse.Namespace) -> SLURMCluster:
    """One worker a job with one thread: a worker of the app trains in one process."""
    return SLURMCluster(
        queue=given.partition,
        cores=1,
        processes=1,
        memory=given.memory,
        walltime=given.time,
        job_extra_directives=["--gres=gpu:1"] if given.gpu else [],
        job_script_prologue=[f"cd {shlex.quote(str(PROJECT))}", 'export PYTHONPATH="$PWD"'],
        log_directory=given.logs,
        protocol="tls://",
        security=Security(require_encryption=True),  # the files that tls.env names
        # Without pages each of them still has plain HTTP somewhere: only on its own machine.
        scheduler_options={"port": given.port, "dashboard": False, "dashboard_address": "127.0.0.1:0"},
        worker_extra_args=["--no-dashboard", "--dashboard-address", "127.0.0.1:0"],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--gpu", action="store_true", help="one GPU for each; Slurm sets CUDA_VISIBLE_DEVICES")
    parser.add_argument("--partition", help="of Slurm; default its own")
    parser.add_argument("--memory", default="4GiB", help="of each job; default 4GiB")
    parser.add_argument("--time", default="04:00:00", help="after which Slurm ends a job; default 04:00:00")
    parser.add_argument("--port", type=int, default=8786, help="of the scheduler; default 8786")
    parser.add_argument("--logs", help="the folder for the jobs' logs")
    parser.add_argument("--show", action="store_true", help="print the job's script and end")
    given = parser.parse_args()
    with cluster_of(given) as cluster:
        if given.show:
            print(cluster.job_script())
            return
        # A job that Slurm has ended, at its time or because a node failed, is submitted anew.
        cluster.adapt(minimum_jobs=given.jobs, maximum_jobs=given.jobs)
        print(f"ATTENTION_LAB_SCHEDULER={cluster.scheduler_address}", flush=True)
        signal.sigwait({signal.SIGINT, signal.SIGTERM})


if __name__ == "__main__":
    main()
