"""Imports the modules of all encodings, tasks and architectures, as the fork server does, so that no first run of a worker imports one
while others wait."""

from pkgutil import resolve_name

from engine.architectures import ARCHITECTURES
from engine.encodings import ENCODINGS
from engine.tasks import TASKS
from engine.tasks.base.data import task_data

for encoding in ENCODINGS.values():
    resolve_name(encoding.layer)
for architecture in ARCHITECTURES.values():
    if architecture.layers:
        resolve_name(architecture.layers)
for task in TASKS:
    task_data(task)
