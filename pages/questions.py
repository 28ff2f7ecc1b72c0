import streamlit as st

from engine.experiments.issues import ISSUES
from pages.parts.app.in_markdown import say_ignored
from pages.parts.app.recent_runs import in_step_with
from pages.parts.experiments.handouts import offer_report
from pages.parts.experiments.presenting import presented
from pages.parts.experiments.running import shown_run
from pages.parts.questions.map import show_map
from pages.parts.questions.state import ISSUE, SETTINGS
from pages.parts.questions.tabs import note_issue, show_tabs
from pages.parts.questions.view import show_experiment

say_ignored(SETTINGS.open_address()[1])
slug = SETTINGS.values()[ISSUE]
if slug is None:
    st.title("What goes wrong?", anchor=False)
    with st.container(key="questions-overview"):
        show_map()
        with st.expander("Your own work", icon=":material/assignment_turned_in:"):
            offer_report()
else:
    issue = ISSUES[slug]
    name, run = shown_run(issue)
    with in_step_with(lambda: run.state if run is not None else ""):
        visible = show_experiment(issue, name, run)
        note_issue(issue, run, visible)
        if not presented():
            show_tabs(issue, name, run)
SETTINGS.write_address(SETTINGS.query())
