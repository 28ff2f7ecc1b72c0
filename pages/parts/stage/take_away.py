"""An experiment that has ended, in numbers: a table of the claims, and downloads of the evidence as JSON and CSV."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import partial

import streamlit as st

from engine.experiments.frames import effects_frame, numbers_frame
from pages.parts.app.setting_widget import offer_file
from pages.parts.stage.shown import Shown


def take_away(shown: Shown) -> None:
    """Nothing before the end, or where no trial has ended."""
    if shown.state == "running" or not shown.trials:
        return
    slug = shown.experiment.slug
    with st.expander("The claims in numbers", icon=":material/table_chart:"):
        show_claims(shown)
    with st.container(horizontal=True):
        offer_file("Evidence (JSON)", partial(as_json, shown), f"{slug}.json")
        offer_file("Every number of every trial (CSV)", partial(as_csv, shown), f"{slug}.csv")


def show_claims(shown: Shown) -> None:
    """A row for each claim, to sort, search and download."""
    number = st.column_config.NumberColumn
    numbers = {
        "before": number(
            "Before", format="%.3g", help="The mean of the number that the effect starts from, where it is one."
        ),
        "after": number("After", format="%.3g", help="The mean of the number that it leads to."),
        "effect": number("Effect", format="%+.3g", help="The mean over the paired seeds."),
        "low": number(
            "From",
            format="%+.3g",
            help="The lower end of the 95 % interval; empty where every seed has the same effect.",
        ),
        "high": number("To", format="%+.3g", help="The upper end of the 95 % interval."),
        "p": number(
            "p",
            format="%.2g",
            help="Of the exact sign-flip test, two-sided; empty where every seed has the same effect.",
        ),
        "smallest effect": number("Worth naming from", format="%g", help="Declared before the run."),
    }
    words = {"claim": "Claim", "condition": "Condition", "finding": "Finding", "direction": "Claimed", "unit": "Unit"}
    frame = effects_frame(shown.report)
    empty = [] if frame["condition"].any() else ["condition"]
    st.dataframe(
        frame.drop(columns=empty), hide_index=True, placeholder="",
        column_config={**words, **numbers, "seeds": number("Seeds")},
    )  # fmt: skip


def as_json(shown: Shown) -> str:
    """The report as the command line prints it, and the trials behind it with their curves."""
    return json.dumps(
        {**shown.report.to_json(), "trials": [asdict(trial) for trial in shown.trials]}, indent=1, allow_nan=False
    )


def as_csv(shown: Shown) -> str:
    """A row for each number of each trial: arm, role, seed, number, value."""
    return numbers_frame(shown.report).to_csv(index=False)
