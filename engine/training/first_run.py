"""Imports and computes what a worker's first run needs, in the fork server, which workers are copies of: the modules of all
encodings, tasks and architectures, and the provenance next to weights. Else the other runs of the worker wait for it."""

from pkgutil import resolve_name

from engine.encodings import ENCODINGS
from engine.foundation.provenance import provenance
from engine.settings.architectures import ARCHITECTURES
from engine.tasks import TASKS
from engine.tasks.base.data import task_data

for encoding in ENCODINGS.values():
    resolve_name(encoding.layer)
for architecture in ARCHITECTURES.values():
    if architecture.layers:
        resolve_name(architecture.layers)
for task in TASKS:
    task_data(task)
provenance()
