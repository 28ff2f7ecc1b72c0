#!/bin/sh
# A scheduler and some workers on this machine, until Ctrl-C; run it in the project's folder after tls.env was read:
#     sh deploy/local.sh 4
# PYTHON names the Python of the virtual environment, PORT the scheduler's port, HOST where it listens, MEMORY that of a worker.
set -eu
: "${DASK_DISTRIBUTED__COMM__TLS__CA_FILE:?Make certificates with deploy/certificates.sh, and read their tls.env.}"
python=${PYTHON:-.venv/bin/python} host=${HOST:-127.0.0.1} port=${PORT:-8786}
quiet="--no-dashboard --dashboard-address 127.0.0.1:0" # without pages each of them still has plain HTTP somewhere
trap 'trap - EXIT; kill $started 2>/dev/null || true; wait' EXIT INT TERM
started=
"$python" -m dask scheduler --host "tls://$host" --port "$port" $quiet & started=$!
number=0
while [ "$number" -lt "${1:-2}" ]; do
  "$python" -m dask worker "tls://$host:$port" --host "$host" --nthreads 1 --memory-limit "${MEMORY:-4GiB}" $quiet & started="$started $!"
  number=$((number + 1))
done
echo "ATTENTION_LAB_SCHEDULER=tls://$host:$port"
wait
