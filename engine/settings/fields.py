"""Settings: typed fields with bounds, default, label and help, each declared once.

Widgets, command line, links and validation all use the same :class:`Setting` rows.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Literal, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field
from pydantic.config import JsonDict
from pydantic.fields import FieldInfo

from engine.settings.names import resolve_name

Value = str | int | float | bool | None | tuple[int, ...] | tuple[str, ...]
FieldKind = Literal["choice", "bool", "int", "float", "ints", "text"]
V = TypeVar("V")

# None in a link or on the command line: the engine chooses the value
AUTO = "auto"


class Parameters(BaseModel):
    """A table of settings: of a run, or of one registry row (an encoding, a task). Frozen; unknown names are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True, allow_inf_nan=False)


def setting(
    default: V,
    label: str,
    help: str,
    *,
    group: str = "",
    labels: dict[str, str] | None = None,
    ge: float | None = None,
    le: float | None = None,
) -> V:
    """A pydantic field with the label, help, group and choice labels that a page shows.

    Typed as its default, as pydantic's own ``Field`` is: the default is checked against the annotation.
    """
    facts: JsonDict = {"group": group, "labels": {**(labels or {})}}
    return Field(default, title=label, description=help, json_schema_extra=facts, ge=ge, le=le)


@dataclass(frozen=True)
class Setting:
    name: str
    kind: FieldKind
    default: Value
    label: str
    help: str
    group: str
    optional: bool = False
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    choice_labels: tuple[str, ...] = ()

    def label_of(self, choice: str) -> str:
        return dict(zip(self.choices, self.choice_labels, strict=True)).get(choice, choice)

    def words(self, value: object) -> str:
        if isinstance(value, bool):
            return "on" if value else "off"
        return self.label_of(to_text(value)) if self.kind == "choice" else to_text(value)

    @property
    def allowed(self) -> str:
        if self.kind == "choice":
            return "one of " + ", ".join(self.choices)
        if self.kind == "bool":
            return "true or false"
        if self.kind == "text":
            return "a word"
        if self.kind == "ints":
            return "whole numbers, separated by commas"
        number = "a whole number" if self.kind == "int" else "a number"
        words = f"{number} from {self.minimum:.12g} to {self.maximum:.12g}"
        return f"{words}, or {AUTO}" if self.optional else words


def settings_in(model: type[BaseModel], choices: dict[str, dict[str, str]] | None = None) -> Iterator[Setting]:
    """The settings that a parameter model declares, in order.

    ``choices`` gives the allowed names and labels of plain string fields: registries can grow without an edit of the field.
    Raises TypeError for a number without a range.
    """
    for name, field in model.model_fields.items():
        extra = field.json_schema_extra
        if not isinstance(extra, dict):
            continue
        kind, literals = _kind_of(field)
        names = (choices or {}).get(name) or {value: value for value in literals}
        minimum = next((m.ge for m in field.metadata if hasattr(m, "ge")), None)
        maximum = next((m.le for m in field.metadata if hasattr(m, "le")), None)
        if kind in ("int", "float") and None in (minimum, maximum):
            raise TypeError(f"The setting {name} has no range: a wrong value could not be answered.")
        given = extra["labels"]
        labels = names | ({value: str(label) for value, label in given.items()} if isinstance(given, dict) else {})
        yield Setting(
            name=name,
            kind="choice" if names else "text" if kind == "choice" else kind,
            default=field.default,
            label=field.title or name,
            help=field.description or "",
            group=str(extra["group"]),
            optional=_is_optional(field),
            minimum=minimum,
            maximum=maximum,
            choices=tuple(names),
            choice_labels=tuple(labels[value] for value in names),
        )


def _kind_of(field: FieldInfo) -> tuple[FieldKind, tuple[str, ...]]:
    annotation = field.annotation
    if get_origin(annotation) in (Union, UnionType):
        (annotation,) = (part for part in get_args(annotation) if part is not NoneType)
    if get_origin(annotation) is Literal:
        return "choice", get_args(annotation)
    if get_origin(annotation) is tuple:
        return "ints", ()
    kinds: dict[object, FieldKind] = {bool: "bool", int: "int", float: "float", str: "choice"}
    return kinds[annotation], ()


def _is_optional(field: FieldInfo) -> bool:
    return NoneType in get_args(field.annotation)


def from_text(values: Mapping[str, object], model: type[BaseModel]) -> dict[str, object]:
    """Undo :func:`to_text` where pydantic does not: for ``auto``, lists, and choices that are written differently."""
    read = dict(values)
    for name, value in values.items():
        field = model.model_fields.get(name)
        if field is None or not isinstance(value, str):
            continue
        if _is_optional(field) and value == AUTO:
            read[name] = None
        elif get_origin(field.annotation) is tuple:
            read[name] = tuple(part.strip() for part in value.split(",") if part.strip())
        elif get_origin(field.annotation) is Literal:
            read[name] = resolve_name(value, get_args(field.annotation))
    return read


def whole_number(text: str, low: int, high: int) -> int | None:
    """Read a whole number from ``low`` to ``high`` in ASCII digits, from text of any length; None if it is not one."""
    # int() refuses longer texts, and reads digits of all scripts
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 16 and low <= int(text) <= high else None


def to_text(value: object) -> str:
    """The text of a setting's value in a link or on the command line; pydantic reads it back."""
    if value is None:
        return AUTO
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ",".join(str(item) for item in value)
    return repr(value) if isinstance(value, float) else str(value)
