"""A page's settings, declared once: its defaults, widgets, address and share link follow from them."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Container, Mapping, Sequence
from dataclasses import dataclass
from mimetypes import guess_type
from types import MappingProxyType
from typing import Any, ClassVar, Generic, TypeVar, cast
from urllib.parse import urlencode

import streamlit as st
from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from engine.config.link import without_marks
from engine.foundation.provenance import stamped
from engine.settings.errors import Problem, no_setting, read_leniently, validate
from engine.settings.fields import Parameters, Setting, Value, settings_in, to_text
from engine.settings.names import resolve_name
from pages.parts.app.in_markdown import setting_help

# The address: a link is read once, and then the page writes it; what a link hides or locks


LESSON_PARAMETERS = ("lesson", "at", "present", "class")
"""Names in every page's address during a lesson; they belong to no page."""
NAMES = ("show", "hide", "lock")
ALLOWED = "one or more names of controls on this page, separated by commas"


def lesson_parameters(query: Mapping[str, str]) -> dict[str, str]:
    return {name: query[name] for name in LESSON_PARAMETERS if name in query}


def carry(values: Mapping[str, str]) -> None:
    st.session_state["address.carried"] = dict(values)


def take_link(page: str, marks: Collection[str] = ()) -> dict[str, str] | None:
    """Return the query of the address if the visitor came by a link; None if the page wrote it or had it already in its
    last run.

    ``marks``: names that the page itself never writes, and of which each link within the app has one. After the first
    query of a session only a query with such a name is a link: one without may be the page's own address, arriving
    late.
    """
    query = {
        name: value for name, value in without_marks(st.query_params.to_dict()).items() if name not in LESSON_PARAMETERS
    }
    previous = st.session_state.get(f"{page}.met")
    # A quick second click arrives with the address from before the first one, which is no link.
    known = query in (written_query(page), previous) or bool(
        previous is not None and marks and query.keys().isdisjoint(marks)
    )
    st.session_state[f"{page}.met"] = query
    return None if known else query


def write_link(page: str, query: dict[str, str]) -> None:
    # A link within the page empties the address bar, so a new query is always written.
    address = {**query, **st.session_state.get("address.carried", {})}
    if written_query(page) != query or st.query_params.to_dict() != address:
        st.query_params.from_dict(address)
    st.session_state[f"{page}.written"] = query


def written_query(page: str) -> dict[str, str] | None:
    return cast(dict[str, str] | None, st.session_state.get(f"{page}.written"))


@dataclass(frozen=True)
class ControlVisibility:
    """The controls that a link shows, hides or locks. No value changes; editing the address restores them."""

    show: tuple[str, ...] = ()  # if any, only these are visible
    hide: tuple[str, ...] = ()
    lock: tuple[str, ...] = ()  # visible but disabled

    def draws(self, name: str) -> bool:
        return name not in self.hide and (not self.show or name in self.show)

    def query(self) -> dict[str, str]:
        return {name: ",".join(controls) for name, controls in vars(self).items() if controls}


def read_visibility(query: Mapping[str, str], controls: Container[str]) -> tuple[ControlVisibility, list[Problem]]:
    """Read a link's lists of ``controls``. Each list with other names gives a problem."""
    lists: dict[str, tuple[str, ...]] = {}
    ignored: list[Problem] = []
    for name in NAMES:
        names = [part.strip() for part in query.get(name, "").split(",") if part.strip()]
        lists[name] = tuple(dict.fromkeys(part for part in names if part in controls))
        if unknown := [part for part in names if part not in controls]:
            ignored.append(Problem(name, ", ".join(unknown), ALLOWED))
    return ControlVisibility(**lists), ignored


# The widget of a setting, by the setting's kind, and the one for a file


SEGMENTS = 3  # the most choices side by side


def setting_widget(
    row: Setting, value: Any, *, side_by_side: bool = False, choices: Sequence[str] = (), **common: Any
) -> None:
    """Draw the widget of a setting, which starts at a value, with help that links to the glossary. ``common``:
    arguments such as key and ``on_change``.

    A list of whole numbers is entered as text. ``side_by_side``: show up to :data:`SEGMENTS` choices at once.
    ``choices``: the setting's choices in the order of the page.
    """
    common = {"help": setting_help(row.name, row.help), **common}
    match row.kind:
        case "choice" if side_by_side and len(row.choices) <= SEGMENTS:
            st.segmented_control(
                row.label, row.choices, default=value, format_func=row.label_of, required=True, width="stretch",
                **common,
            )  # fmt: skip
        case "choice":
            choices = choices or row.choices
            st.selectbox(row.label, choices, choices.index(value), **{"format_func": row.label_of, **common})
        case "bool":
            st.toggle(row.label, value, **common)
        case "text":
            st.text_input(row.label, value, **common)
        case "ints":
            st.text_input(row.label, value, placeholder="for example 8, 12, 24", **common)
        case "int" | "float":
            st.number_input(row.label, value=value, **_limits(row), **common)


def _limits(row: Setting) -> dict[str, Any]:
    kind: type[int] | type[float] = int if row.kind == "int" else float
    limits: dict[str, Any] = {"min_value": kind(row.minimum or 0), "max_value": kind(row.maximum or 0)}
    if row.kind == "float":
        limits |= {"format": "%.6g", "step": _step(row.default)}
    if row.optional:
        limits |= {"placeholder": "auto"}
    return limits


def _step(default: Value) -> float:
    """Return a step that changes the first digit of the default."""
    return 10.0 ** math.floor(math.log10(default)) if isinstance(default, int | float) and default else 0.1


def offer_file(
    label: str, make: Callable[[], str | bytes], name: str, icon: str | None = ":material/download:"
) -> None:
    """Draw a button for a file that is made only when it is pressed. The file's name ends in version, commit and date."""
    # In the name: a comment in a CSV, or a column of one value, would disturb programs that read its numbers.
    st.download_button(label, make, stamped(name), guess_type(name)[0], icon=icon)


# The state


EMPTY: Mapping[str, str] = MappingProxyType({})


class PageState(Parameters):
    """The settings of a page by their names in a link. Frozen; each page declares its own."""

    REMOVED: ClassVar[Mapping[str, str]] = EMPTY
    """The removed settings of earlier versions: by name, a sentence about each."""

    def check(self) -> None:
        """Raises ConfigError where values that fit one by one contradict each other."""


def not_allowed(allowed: str, known: Collection[str] = ()) -> PydanticCustomError:
    """Return a validator's error for a value outside the ``allowed`` ones, in words. ``known``: their names."""
    return PydanticCustomError("choice", "{allowed}", {"allowed": allowed, "known": list(known)})


def one_of(known: Collection[str], renamed: Mapping[str, str] = EMPTY) -> AfterValidator:
    """Return the validator of a name among the ``known`` ones, also by an earlier name (see :func:`resolve_name`), or None."""

    def check(name: str | None) -> str | None:
        name = name if name is None else resolve_name(name, known, renamed)
        if name is not None and name not in known:
            raise not_allowed("one of " + ", ".join(known), known)
        return name

    return AfterValidator(check)


def all_known(names: tuple[str, ...], known: Collection[str]) -> tuple[str, ...]:
    """Return the names. Raises :func:`not_allowed` if one is unknown."""
    if not set(names) <= set(known):
        raise not_allowed(f"some of {', '.join(known)}, separated by commas")
    return names


S = TypeVar("S", bound=PageState)


class PageSettings(ABC):
    """The settings of one page: their values in the session, their widgets, and the link to them.

    ``st.session_state[key]`` has the values by name, where they outlive the page and its widgets. Each value is valid
    alone; contradictions between values appear when they are used.
    """

    def __init__(self, key: str, *, widgets: str = "", marks: Collection[str] = ()) -> None:
        """``widgets``: prefix of the widgets' keys. ``marks``: see :func:`take_link`."""
        self.key = key
        self._widgets, self._marks = widgets or f"{key}.set.", marks

    @abstractmethod
    def defaults(self) -> dict[str, Any]:
        pass

    @abstractmethod
    def rows(self) -> Mapping[str, Setting]:
        """Return the settings that exist under the present values, in order."""

    @abstractmethod
    def read(self, query: Mapping[str, str]) -> tuple[dict[str, Any] | None, list[Problem]]:
        """Return the values of a link, or None to leave the page's values, and the problems of the link."""

    def controls(self) -> Collection[str]:
        """Return the names that a link may show, hide or lock."""
        return self.rows().keys()

    # The values

    def values(self) -> dict[str, Any]:
        if self.key not in st.session_state:
            st.session_state[self.key] = self.defaults()
        return cast(dict[str, Any], st.session_state[self.key])

    def requested(self) -> dict[str, Any]:
        """Return the values of the settings that exist now."""
        return self.values()

    def fill(self, values: Mapping[str, Any]) -> None:
        st.session_state[self.key] = dict(values)
        self._replace_widgets(list(self._widget_versions))

    def put(self, changes: Mapping[str, Any]) -> None:
        st.session_state[self.key] = {**self.values(), **changes}
        self._replace_widgets(changes)

    # The widgets

    def widget_key(self, name: str) -> str:
        """Return the key of a setting's widget: ``set.seed``, then ``set.seed.1`` once something else has changed its
        value."""
        version = self._widget_versions.get(name)
        return f"{self._widgets}{name}.{version}" if version else self._widgets + name

    @property
    def _widget_versions(self) -> dict[str, int]:
        return cast(dict[str, int], st.session_state.setdefault(f"{self.key}.anew", {}))

    def _replace_widgets(self, names: Collection[str]) -> None:
        # A new widget starts at its value, whichever script run sends it to the browser. A value that is set in an
        # existing widget is lost if the next script run begins before it was sent.
        for name in names:
            if name in self._widget_versions and self.widget_key(name) in st.session_state:
                self._widget_versions[name] += 1

    def visible(self, *names: str) -> list[str]:
        """Return the given controls that the link does not hide."""
        return [name for name in names if self._visibility.draws(name)]

    def locks(self, name: str) -> bool:
        return name in self._visibility.lock

    def widget(self, name: str, *, side_by_side: bool = False, disabled: bool = False, **common: Any) -> None:
        if self.visible(name):
            bound = self.bound(name, disabled=disabled)
            setting_widget(self.rows()[name], self.first_value(name), side_by_side=side_by_side, **bound, **common)

    def bound(self, name: str, *, disabled: bool = False, display: Any = ...) -> dict[str, Any]:
        """Return the arguments that bind a widget to the value of that name: key, callback, and whether it is disabled.
        Its start value is another argument (:meth:`first_value`).

        ``display``: shown instead of a value that does not fit: a run with two layers has no layer 3.
        """
        key = self.widget_key(name)
        if display is ...:
            self._widget_versions.setdefault(name, 0)
        else:
            st.session_state[key] = display
        return {"key": key, "on_change": self._take, "args": (name,), "disabled": disabled or self.locks(name)}

    def first_value(self, name: str) -> Any:
        """Return the start value of a setting's widget: a list of numbers as text, since it is typed, and a list of
        names as a list."""
        value = self.requested().get(name)
        if isinstance(value, tuple):
            return to_text(value) if name in self.rows() else list(value)
        return value

    def labelled(self, name: str, *, display: Any, disabled: bool = False) -> dict[str, Any]:
        """Return :meth:`bound` with the setting's label and help, for a widget whose choices only the page knows."""
        row, bound = self.rows()[name], self.bound(name, disabled=disabled, display=display)
        return {"label": row.label, "help": setting_help(name, row.help) or None, **bound}

    def _take(self, name: str) -> None:
        if self.widget_key(name) not in st.session_state:
            return  # an action just before has replaced the widget, and the new one is not drawn yet
        value = st.session_state[self.widget_key(name)]
        self.take(name, tuple(value) if isinstance(value, list) else value)

    def take(self, name: str, value: Any) -> None:
        st.session_state[self.key] = {**self.values(), name: value}

    # The address

    @property
    def _visibility(self) -> ControlVisibility:
        return cast(ControlVisibility, st.session_state.get(f"{self.key}.hidden", ControlVisibility()))

    def open_address(self) -> tuple[dict[str, str], list[Problem]]:
        """Read a link into the page, once; return the link, empty without one, and its problems."""
        link = take_link(self.key, self._marks) or {}
        if not link:
            return {}, []
        values, ignored = self.read({name: text for name, text in link.items() if name not in NAMES})
        if values is not None:
            self.fill(values)
        st.session_state[f"{self.key}.hidden"], unknown = read_visibility(link, self.controls())
        return link, ignored + unknown

    def query(self, *others: Mapping[str, Any]) -> dict[str, str]:
        """Return the values that differ from the defaults, or from ``others``, such as the run that the link names."""
        usual, now = (self.defaults(), *others), self.requested()
        unusual = [name for name in now if any(flat.get(name, ...) != now[name] for flat in usual)]
        return {name: to_text(now[name]) for name in unusual}

    def write_address(self, query: Mapping[str, str]) -> None:
        write_link(self.key, {**query, **self._visibility.query()})

    def share_link(self, query: Mapping[str, str]) -> str:
        return f"{(st.context.url or '').split('?')[0]}?{urlencode({**query, **self._visibility.query()})}"


class ModelSettings(PageSettings, Generic[S]):
    def __init__(self, key: str, model: type[S]) -> None:
        super().__init__(key)
        self._model, self._rows = model, {row.name: row for row in settings_in(model)}

    def defaults(self) -> dict[str, Any]:
        return self._model().model_dump()

    def state(self) -> S:
        """Return the values without validation: each was validated when it arrived."""
        return self._model.model_construct(**self.values())

    def rows(self) -> Mapping[str, Setting]:
        return self._rows

    def read(self, query: Mapping[str, str]) -> tuple[dict[str, Any], list[Problem]]:
        names = self._model.model_fields
        state, ignored = read_leniently({name: text for name, text in query.items() if name in names}, self._validate)
        unknown = [
            no_setting(name, text, names, self._model.REMOVED.get(name, ""))
            for name, text in query.items()
            if name not in names
        ]
        return state.model_dump(), ignored + unknown

    def _validate(self, flat: Mapping[str, Any]) -> S:
        state = validate(self._model, flat)
        state.check()
        return state
