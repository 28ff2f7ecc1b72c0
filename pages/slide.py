import streamlit as st

from engine.experiments.question import Question
from pages.parts.app.in_markdown import escaped
from pages.parts.experiments.presenting import Presenting, guesses_closed, presenting, shows, take_guess
from pages.parts.experiments.projector import show_responses, tell_participants
from pages.parts.experiments.question import ask_here, guess_of, guess_result


def show_question(now: Presenting, question: Question) -> None:
    name = f"slide.{now.visit}"
    take_guess(name)
    guess = guess_of(name).answer
    st.header(escaped(question.words), anchor=False)
    if shows("guess"):
        is_answered = shows("sentence") if now.on else guess is not None
        if not (now.on and is_answered):  # no new guesses after the answer
            is_closed = guesses_closed() or is_answered
            ask_here(question, name, disabled=is_closed)
        right = question.taught if is_answered else ()
        if is_answered:
            tell_participants(right, "")
            st.subheader(guess_result(question, guess, right), anchor=False)
        show_responses(right)


now = presenting()
slide = now.step.slide if now is not None else None
with st.container(key="slide"):
    if now is None or slide is None:
        st.title("A slide of a lesson", anchor=False)
        st.markdown("A slide appears here during a lesson that has one.")
        st.page_link("teach.py", label="All lessons", icon=":material/co_present:")
    else:
        st.title(escaped(slide.title), anchor=False)
        with st.container(key="slide-words"):
            st.text(slide.text)
        if now.step.question is not None:
            show_question(now, now.step.question)
