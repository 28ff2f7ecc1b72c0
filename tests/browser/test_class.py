import re
from typing import Any

import pytest

from engine.experiments.evidence.shipped import ShippedResult, shipped_result
from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import Issue
from pages.parts.classroom import COUNTED, LOOK_UP, ON_PROJECTOR
from tests.browser.conftest import (
    PHONE,
    PROJECTOR,
    WIDE,
    Open,
    button,
    expect,
    figure,
    in_view,
    nothing_is_cut_off,
    settled,
)
from tests.browser.test_axe import violations

LESSON = "teach?steps=title~Masks~~text~Today~First we guess.%0AThen we train..70~~missing-mask.80~~lab~steps~60.90"
ANSWERS = ("It falls", "No change", "It rises")
# the names of buttons that a phone has none of
STEERS = re.compile("Run|Show the answer|Train$|Present|Stop|Next step|Go through it")


def has_one_question_and_nothing_to_steer(participant: Any) -> None:
    expect(participant.get_by_role("heading", level=1)).to_have_count(1)
    expect(participant.get_by_role("button", name=STEERS)).to_have_count(0)
    for bar in ("stHeader", "stSidebar"):
        expect(participant.get_by_test_id(bar)).to_be_hidden()
    nothing_is_cut_off(participant)


def shown_result(issue: Issue) -> ShippedResult:
    found = shipped_result(issue, issue.key_figure)
    assert found is not None
    return found


def answer_of(participant: Any, words: str) -> Any:
    return participant.get_by_role("radio", name=words, exact=True)


def guess(participant: Any, answer: str) -> None:
    answer_of(participant, answer).click()
    participant.get_by_text(COUNTED).wait_for()


def losing(page: Any, lost: list[object]) -> None:
    """While ``lost`` has anything in it the page gets no message of the server."""

    def between(socket: Any) -> None:
        server = socket.connect_to_server()
        socket.on_message(server.send)
        server.on_message(lambda message: lost or socket.send(message))

    page.route_web_socket("**/_stcore/stream", between)


@pytest.mark.thorough
def test_by_keys_alone_and_before_any_dot_is_there_a_class_has_its_answer_in_each_step_to_the_end_of_the_lesson(
    open_page: Open, app: str
) -> None:
    projector = open_page("teach?steps=title~Two~~missing-mask.7~~heads.7", "Teach", PROJECTOR)
    settled(projector)
    button(projector, "Present").last.click()
    link = projector.get_by_role("dialog").locator(".link").inner_text().removeprefix(app)
    lost = list[object]()
    participant = open_page(link, "You are in the class", PHONE, before=lambda page: losing(page, lost))
    participant.get_by_role("heading", name="Two").wait_for()
    projector.get_by_role("dialog").get_by_text("1 phone is here.").wait_for()

    def press(key: str) -> None:
        projector.keyboard.press(key)
        settled(projector)

    press("PageDown")
    for issue in (ISSUES["missing-mask"], ISSUES["heads"]):
        projector.get_by_role("heading", name=issue.title).wait_for()
        assert "seeds" not in "".join(projector.locator(".spoken").all_inner_texts()), "no result of the step before"
        press("PageDown")
        press("PageDown")
        projector.get_by_text("0 of 1 have answered. Continue?").wait_for()
        lost.append("")
        answer_of(participant, issue.key_figure.answers[2]).click()
        projector.get_by_text("1 of 1 have guessed").wait_for()
        settled(projector)
        lost.clear()
        participant.get_by_text(COUNTED).wait_for()
        press("s")
        figure(projector, "key.figure").get_by_text("waiting for 1").wait_for()
        press("PageDown")
        projector.get_by_text("0 of 1 have answered. Continue?").wait_for()
        press("PageDown")
        stored = shown_result(issue)
        assert stored.finding.right
        for page in (projector, participant):
            page.get_by_text(stored.finding.sentence.replace("seeds", "stored seeds")).first.wait_for()
        projector.get_by_role("img", name=re.compile(r"^The class: .*; \d of 1 right$")).wait_for()
        participant.get_by_text(re.compile(r"You said: .* (Right|Measured: )")).wait_for()
        if stored.finding.because:
            participant.get_by_text(f"Because {stored.finding.because}").wait_for()
        press("PageDown")
        projector.get_by_text("Remedy:").wait_for()
        press("PageDown")
    participant.get_by_role("heading", name="The lesson has ended").wait_for()
    projector.locator(".lesson-clock").get_by_text("The lesson has ended").wait_for()


@pytest.mark.thorough
def test_a_projector_and_four_phones_go_through_a_lesson_with_guesses_and_seeds_and_two_phones_reload(
    open_page: Open, app: str
) -> None:
    projector = open_page(LESSON, "Teach", PROJECTOR)
    settled(projector)  # the link's own lesson comes last
    button(projector, "Present").last.click()
    link = projector.get_by_role("dialog").locator(".link").inner_text()
    assert re.fullmatch(re.escape(app) + r"classroom\?class=[0-9a-f]{8}", link)
    participants = [
        open_page(link.removeprefix(app), "You are in the class", size) for size in (PHONE, PHONE, WIDE, PROJECTOR)
    ]
    projector.get_by_role("dialog").get_by_text("4 phones are here.").wait_for()

    projector.keyboard.press("Escape")
    projector.get_by_role("heading", name="Today").wait_for()
    clock = projector.locator(".lesson-clock")
    clock.get_by_text(
        re.compile(r"^1 of 3 · [1-6]?\d min left$|^1 of 3 · 70 min left$")
    ).wait_for()  # of this step alone
    for participant in participants:
        participant.get_by_role("heading", name="Today").wait_for()
        participant.get_by_text("Masks · Step 1 of 3").wait_for()

    projector.keyboard.press("PageDown")
    clock.get_by_text("2 of 3").wait_for()
    projector.keyboard.press("PageDown")
    for participant in participants:
        for answer in ANSWERS:
            answer_of(participant, answer).wait_for()
        has_one_question_and_nothing_to_steer(participant)
    assert answer_of(participants[0], ANSWERS[0]).bounding_box()["height"] >= 64
    assert violations(participants[3]) == []
    for participant, answer in zip(participants, ("It falls", "No change", "It rises"), strict=False):
        guess(participant, answer)
    projector.get_by_text("3 of 4 have guessed · waiting for 1").wait_for()
    participants[0].reload()
    participants[0].get_by_text(COUNTED).wait_for()
    guess(participants[0], "It rises")
    guess(participants[3], "It rises")
    projector.get_by_text("4 of 4 have guessed").wait_for()

    projector.keyboard.press("s")
    bars = projector.get_by_role("img", name="The class: It falls 0, No change 1, It rises 3")
    sentence = figure(projector, "key.figure").locator(".words")
    sentence.get_by_text("0 seeds from 0 phones · waiting for 4").wait_for()
    in_view(bars, sentence)
    plot = figure(projector, "key.figure").locator(".plot")
    assert bars.bounding_box()["height"] > 0.6 * plot.bounding_box()["height"]
    for participant in participants:
        button(participant, "Train one model").dblclick()
    participants[1].reload()
    for participant in participants:
        participant.get_by_text(ON_PROJECTOR).wait_for()
        has_one_question_and_nothing_to_steer(participant)
    sentence.get_by_text(re.compile("4 seeds from 4 phones$")).wait_for()

    projector.keyboard.press("PageDown")
    sentence.get_by_text(re.compile(r"rises from .* in 20 of 20 seeds\.")).wait_for()
    for participant in (participants[0], participants[2], participants[3]):  # four seeds alone would decide nothing
        participant.get_by_text("You said: It rises. Right.").wait_for()
    projector.keyboard.press("PageDown")
    projector.get_by_text("Remedy:").wait_for()
    assert violations(participants[3]) == []
    participants[2].get_by_role("link", name="Explore on your own").click()
    button(participants[2], "Show the answer").wait_for()
    expect(button(participants[2], "Present")).to_have_count(0)
    participants[2].get_by_role("link", name="Back to the class").click()
    participants[2].get_by_text("You said: It rises. Right.").wait_for()

    projector.keyboard.press("PageDown")
    projector.keyboard.press("PageDown")
    clock.get_by_text("3 of 3").wait_for()
    for participant in participants:
        participant.get_by_role("heading", name=re.compile("Will this model learn it")).wait_for()
    for participant, answer in zip(participants, ("Yes", "No", "Yes", "In part"), strict=True):
        guess(participant, answer)
    projector.get_by_text("4 of 4 have guessed").wait_for()
    expect(projector.locator(".badge").get_by_text("Finished")).to_have_count(0)
    projector.keyboard.press("PageDown")
    projector.locator(".badge").get_by_text("Finished").wait_for()
    participants[0].get_by_text(LOOK_UP).wait_for()

    projector.keyboard.press("PageDown")
    settled(projector)
    projector.keyboard.press("x")
    projector.get_by_text("Removed: skip connection of layer 1.").wait_for()
    settled(projector)  # its answer is there: until then the key takes nothing
    projector.keyboard.press("x")
    projector.get_by_text(re.compile("head 1 of layer 1")).first.wait_for()
    projector.get_by_text("skip connection of layer 1").wait_for(state="detached")

    projector.keyboard.press("PageDown")
    participants[0].get_by_text("You said: Yes. Right.").wait_for()
    participants[1].get_by_text("You said: No. Measured: Yes.").wait_for()
    projector.get_by_role("img", name="The class: No 1, In part 1, Yes 2; 2 of 4 right").wait_for()
    settled(projector)
    in_view(figure(projector, "stack"), figure(projector, "accuracy"), projector.locator(".stHeading h3"))
    title = projector.locator(".stHeading h3").inner_text()
    for participant in participants:
        participant.get_by_text(title, exact=True).wait_for()
    projector.keyboard.press("Escape")
    participants[3].get_by_role("heading", name="The lesson has ended").wait_for()
