"""The earlier address of "Reverse in six steps": it leads to the lesson, at the step of the link, with its choice, seed and run."""

import streamlit as st

from engine.config.link import to_query
from engine.experiments.lessons import LESSONS, TUTORIAL
from engine.settings.fields import to_text
from pages.parts.app.server import find
from pages.parts.experiments.presenting import way_into

link, steps = st.query_params.to_dict(), LESSONS[TUTORIAL].steps
given = link.get("step", "1")
at = next((at for at in range(len(steps)) if given == str(at + 1)), 0)
page, query = way_into(LESSONS[TUTORIAL], at)
query["at"] = given  # where it is none of the steps, the lesson says so
step, run = steps[at], find(link.get("run", ""))
if run is not None and step.covers(run.config):
    query |= to_query(run.config)
if step.guide and link.get("choice", "") in map(to_text, step.guide.values):
    query[step.guide.vary] = link["choice"]
if "seed" in link:
    query["seed"] = link["seed"]
if "run" in link and (run is None or step.covers(run.config)):  # of one that is gone the lab says so
    query["run"] = link["run"]
st.switch_page(page, query_params=query)
