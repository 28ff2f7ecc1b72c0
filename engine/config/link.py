import re
import shlex
from collections.abc import Mapping

from engine.config.run_config import RunConfig, parse_leniently
from engine.settings.errors import Problem
from engine.settings.fields import Value, to_text

VERSION = "1"  # of links; raise it when a setting changes its meaning
# names that mail, courses and networks add to a link to follow its readers
MARKS = re.compile(
    r"(utm|mtm|pk|hsa)_\w+|(fb|g|d|y|tw|tt)clid|[gw]braid|msclkid|igshid|mc_[ce]id|li_fat_id|_ga|_gl|_hsenc|_hsmi"
)


def to_query(config: RunConfig) -> dict[str, str]:
    """The query of a config, the version first. It states every setting, so that later defaults change nothing."""
    return {"v": VERSION, **{name: to_text(value) for name, value in config.flat().items()}}


def without_marks(query: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in query.items() if not MARKS.fullmatch(name)}


def from_query(query: Mapping[str, str]) -> tuple[RunConfig, list[Problem]]:
    """The config of a link, and the problems in it that were ignored. Settings that the link leaves out take their defaults."""
    flat, ignored = without_marks(query), list[Problem]()
    version = flat.pop("v", VERSION)
    if version != VERSION:
        ignored.append(Problem("v", version, f"{VERSION}, the version of links that this app reads"))
    config, problems = parse_leniently(flat)
    return config, ignored + problems


def flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def as_options(values: Mapping[str, Value]) -> list[str]:
    return [part for name, value in values.items() for part in (flag(name), to_text(value))]


def train_command(config: RunConfig) -> str:
    """A command quoted for a shell, without the settings at their defaults."""
    usual = RunConfig().flat()
    specific = {name: value for name, value in config.flat().items() if usual.get(name, ...) != value}
    return shlex.join(["python", "-m", "engine", "train", *as_options(specific)])
