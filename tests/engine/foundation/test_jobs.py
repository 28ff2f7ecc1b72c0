import re
from dataclasses import fields
from importlib import import_module
from inspect import Parameter, signature
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, get_args, get_type_hints

import pytest

import engine
from engine.foundation.job import Job

ROOT = Path(engine.__file__).parents[1]
MODULES = sorted(".".join(file.relative_to(ROOT).with_suffix("").parts) for file in ROOT.glob("engine/**/*jobs.py"))
JOBS: list[type[Job[Any]]] = [
    kind
    for name in MODULES
    for kind in vars(import_module(name)).values()
    if isinstance(kind, type) and issubclass(kind, Job) and kind.__module__ == name
]


def test_no_job_is_declared_elsewhere() -> None:
    declared = [file for file in ROOT.glob("[ep]*/**/*.py") if "(Job[" in file.read_text("utf-8")]
    assert sorted(".".join(file.relative_to(ROOT).with_suffix("").parts) for file in declared) == MODULES
    assert len(JOBS) > 20


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.__name__)
def test_the_function_takes_the_fields_and_gives_the_answer(job: type[Job[Any]]) -> None:
    function = resolve_name(job.function)
    wanted = signature(function).parameters
    given = {field.name for field in fields(job)}
    assert given <= wanted.keys()
    assert {name for name, one in wanted.items() if one.default is Parameter.empty} <= given
    (answer,) = get_args(job.__orig_bases__[0])  # type: ignore[attr-defined]
    assert get_type_hints(function)["return"] == answer


def test_readers_have_words_of_its_own_for_each() -> None:
    assert all(re.fullmatch(r"[A-Z][a-z]+ing [a-z' ]+", job.noun) for job in JOBS)
    assert len({job.noun for job in JOBS}) == len(JOBS)
