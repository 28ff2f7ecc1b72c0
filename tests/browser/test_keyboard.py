import re
from typing import Any

import pytest

from engine.experiments.issues import ISSUES
from tests.browser.conftest import (
    PROJECTOR,
    Open,
    button,
    expect,
    figure,
    go,
    in_view,
    nothing_is_cut_off,
    settled,
    wait_for_plot,
)

# a window of 1280 by 720 as the page sees it when the browser enlarges everything to 150 and to 200 %
ZOOM = ({"width": 853, "height": 480}, {"width": 640, "height": 360})
ISSUE = "questions?issue=missing-mask&seeds=2&first_seed=10040"
MAX_KEYS = 60
FOCUSED = """() => {
  let node = document.activeElement
  while (node?.shadowRoot?.activeElement) node = node.shadowRoot.activeElement
  const { x, y, width, height } = node.getBoundingClientRect()
  const name = node.getAttribute('aria-label') ?? node.innerText?.trim().split('\\n').at(-1) ?? ''
  const kind = node.getAttribute('role') ?? node.tagName.toLowerCase()
  return { name, kind, box: { x: x - 5, y: y - 5, width: width + 10, height: height + 10 } }
}"""
# JavaScript: record from here on what is put into the live regions of the boards
SPOKEN = """() => {
  window.spoken = []
  const watched = new Set()
  const watch = (root) => {
    for (const node of root.querySelectorAll('*')) {
      if (node.shadowRoot) watch(node.shadowRoot)
      if (node.getAttribute('role') !== 'status' || watched.has(node)) continue
      watched.add(node)
      const note = () => node.textContent && window.spoken.push(node.textContent)
      new MutationObserver(note).observe(node, { childList: true, subtree: true, characterData: true })
    }
  }
  watch(document)
}"""

# JavaScript: record from here on whether the keys of a lesson are listened to
LISTENS = """const add = document.addEventListener
document.addEventListener = function (kind, act, ...how) {
  window.listens ||= kind === 'keydown' && act?.name === 'press'
  return add.call(this, kind, act, ...how)
}"""


def tab_to(page: Any, name: str, kind: str, key: str = "Tab") -> None:
    """Press Tab until the element with this name and role has the focus."""
    for _ in range(MAX_KEYS):
        page.keyboard.press(key)
        at = page.evaluate(FOCUSED)
        if at["kind"] == kind and at["name"] == name:
            return
    pytest.fail(f"{MAX_KEYS} times Tab did not lead to {kind} {name}.")


def focus_is_visible(page: Any) -> None:
    """Check that the element with the focus looks different once it has lost it. Both pictures are of a page at rest: it may move
    while it loads."""
    settled(page)
    box = page.evaluate(FOCUSED)["box"]
    focused = page.screenshot(clip=box, animations="disabled")  # the ring has come
    page.keyboard.press("Tab")
    settled(page)
    assert page.screenshot(clip=box, animations="disabled") != focused
    page.keyboard.press("Shift+Tab")


def test_in_the_lab_keys_alone_change_a_setting_train_and_pause(open_page: Open) -> None:
    page = open_page("lab?steps=40000&seq_len=8", "Lab")
    button(page, "Train").wait_for()
    settled(page)  # Tab does not wait for what is still to come
    tab_to(page, "Depth", "input")
    focus_is_visible(page)
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("2")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("n_layers=2"))
    tab_to(page, "Train", "button", "Shift+Tab")  # it stands above the settings
    page.keyboard.press("Enter")
    status = page.locator(".live [role=status]")
    status.get_by_text("Training").wait_for()
    page.locator(".live .facts").get_by_text(re.compile(r"step [1-9]")).wait_for()  # of step 0 nothing is said
    page.evaluate(SPOKEN)
    tab_to(page, "Pause", "button")
    page.keyboard.press("Space")
    status.get_by_text("Paused").wait_for()
    assert [re.sub(r"\d+", "n", sentence) for sentence in page.evaluate("window.spoken")] == ["Paused at step n"]


@pytest.mark.thorough
def test_on_a_question_keys_alone_guess_show_the_answer_and_train_and_the_results_are_spoken(open_page: Open) -> None:
    page = open_page(ISSUE, "What if the mask is missing?")
    button(page, "Show the answer").wait_for()
    tab_to(page, "It falls", "radio")
    focus_is_visible(page)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    page.locator("[role=radio][aria-checked=true]").get_by_text("It rises").wait_for()
    page.evaluate(SPOKEN)
    tab_to(page, "Show the answer", "button")
    focus_is_visible(page)
    page.keyboard.press("Enter")
    page.get_by_text("Because").wait_for()
    tab_to(page, "Train it here", "button")
    page.keyboard.press("Enter")
    page.locator(".badge").get_by_text("Finished").wait_for()
    stored, _, live = page.locator(
        'article[data-id="key.figure"] .words span'
    ).all_inner_texts()  # long runs between them
    assert "ithout the causal mask" in stored
    spoken = ["Measured when this version was made", stored, "Running", "Finished", live]
    assert page.evaluate("window.spoken") == spoken, "no step, each change of the state once"


def test_an_issue_is_presented_from_the_keyboard(open_page: Open) -> None:
    listening = {"before": lambda page: page.add_init_script(LISTENS)}
    page = open_page("questions?issue=missing-mask&seeds=2", "What if the mask is missing?", **listening)
    bar, sentence = page.get_by_test_id("stHeader"), page.locator('article[data-id="key.figure"] .words')
    button(page, "Show the answer").wait_for()
    page.wait_for_function("() => window.listens")  # the script that does comes with the page, and shows nothing
    page.keyboard.press("p")
    bar.wait_for(state="hidden")
    page.get_by_role("radiogroup", name="Your guess").wait_for(state="detached")
    page.keyboard.press("PageDown")
    page.get_by_role("radiogroup", name="Your guess").wait_for()
    chosen = page.locator("[role=radio][aria-checked=true]")
    page.get_by_role("radio", name="No change").click()
    chosen.get_by_text("No change").wait_for()
    page.keyboard.press("3")
    chosen.get_by_text("It rises").wait_for()
    page.keyboard.press("ArrowRight")  # it leads on, although a click has left the focus on the guess
    wait_for_plot(page, "key.figure")  # of stored seeds: their answer needs no line on how the training goes
    assert sentence.inner_text() == ""
    settled(page)
    draws = int(wait_for_plot(page, "key.figure").get_attribute("data-draws"))
    page.keyboard.press("PageDown")
    wait_for_plot(page, "key.figure", draws + 1)
    page.keyboard.press("PageDown")
    page.wait_for_function(
        """() => [...document.querySelectorAll('*')].some((node) =>
          node.shadowRoot?.querySelector('article[data-id="key.figure"] .words')?.textContent.startsWith('Without'))"""
    )
    page.keyboard.press("b")
    page.locator(".lesson-blank").wait_for()
    page.keyboard.press("b")
    page.locator(".lesson-blank").wait_for(state="detached")
    page.keyboard.press("PageDown")
    page.get_by_text("Remedy:").wait_for()
    page.keyboard.press("Escape")
    bar.wait_for()


def height(page: Any) -> float:
    """The height of the page in pixels, with the part below the window."""
    found: float = page.evaluate("() => document.querySelector('[data-testid=stMain]').scrollHeight")
    return found


@pytest.mark.thorough
def test_a_lab_step_has_beats_on_one_screen_and_q_shows_the_link(open_page: Open) -> None:
    page = open_page("teach?steps=lab~n_layers~8~steps~40.5~~missing-mask.5", "Teach", PROJECTOR)
    settled(page)  # the link's own lesson comes last
    button(page, "Present").last.scroll_into_view_if_needed()
    button(page, "Present").last.click()
    code = page.get_by_role("dialog", name="The link of this lesson as a QR code")
    code.get_by_text(re.compile("classroom.class=")).wait_for()
    expect(code.get_by_role("button", name="Close")).to_be_focused()
    page.keyboard.press("Escape")
    expect(code).to_have_count(0)
    question = page.get_by_role("heading", name=re.compile("Will this model learn it"))
    question.wait_for()
    picture, curve, sentence = figure(page, "stack"), figure(page, "accuracy"), page.locator(".stHeading h3")

    def on_one_screen(*, with_curve: bool) -> float:
        """The height of the picture, whose parts stand beside its layers also if the curve stands beside it."""
        expect(curve).to_be_visible(visible=with_curve)
        settled(page)
        in_view(question, picture, *([curve] if with_curve else []))
        assert height(page) <= PROJECTOR["height"]
        right = curve.bounding_box() if with_curve else {"x": PROJECTOR["width"] - 48, "y": picture.bounding_box()["y"]}
        assert right["x"] - 16 <= picture.bounding_box()["x"] + picture.bounding_box()["width"] <= right["x"]
        assert right["y"] == picture.bounding_box()["y"]
        expect(picture.locator(".picture.narrow, .picture.thin")).to_have_count(0)
        expect(button(page, "Train")).to_have_count(0)
        return picture.locator(".picture").bounding_box()["height"]

    page.get_by_text("untrained.").wait_for()
    on_one_screen(with_curve=False)
    page.keyboard.press("PageDown")
    page.get_by_role("radiogroup", name="Your guess").wait_for()
    page.keyboard.press("3")
    page.locator("[role=radio][aria-checked=true]").get_by_text("Yes").wait_for()
    on_one_screen(with_curve=False)
    page.keyboard.press("PageDown")
    page.locator(".badge").get_by_text("Finished").wait_for()
    expect(curve.locator(".legend .traces")).to_have_count(2)
    tall = on_one_screen(with_curve=True)
    page.keyboard.press("PageDown")
    assert on_one_screen(with_curve=False) == tall
    page.keyboard.press("PageDown")
    sentence.get_by_text(re.compile("accuracy")).wait_for()
    assert on_one_screen(with_curve=True) == pytest.approx(tall, abs=8)  # the row of the class's hands, empty here
    in_view(sentence)
    page.keyboard.press("PageDown")
    page.get_by_role("heading", name="What if the mask is missing?").wait_for()
    settled(page)
    assert height(page) <= PROJECTOR["height"]
    page.keyboard.press("3")  # before the guess is asked for: the lesson goes on to it
    page.locator("[role=radio][aria-checked=true]").get_by_text("It rises").wait_for()
    for shown in (1, 0):
        page.keyboard.press("q")
        expect(code).to_have_count(shown)


@pytest.mark.thorough
def test_presses_in_quick_succession_all_count_and_none_counts_twice(open_page: Open) -> None:
    """Each round of presses comes while the page still draws the one before: the browser sends them within one task."""
    page = open_page("teach?steps=missing-mask.5~~lab~steps~40.5~~heads.5", "Teach", PROJECTOR)
    settled(page)
    button(page, "Present").last.click()
    page.get_by_role("dialog", name="The link of this lesson as a QR code").wait_for()
    clock, guess = page.locator(".lesson-clock"), page.locator("[role=radio][aria-checked=true]")

    def press(*keys: str) -> None:
        page.evaluate(
            "(keys) => keys.forEach((key) => document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true })))",
            keys,
        )

    press("Escape", "PageDown", "3")  # out of the code, to the guess, and guessed
    guess.get_by_text("It rises").wait_for()
    press("PageDown", "PageDown", "PageDown")  # over the run
    wait_for_plot(page, "key.figure")
    page.get_by_text("Remedy:").wait_for(state="hidden")
    press("PageDown", "PageDown")
    clock.get_by_text("2 of 3").wait_for()
    press("PageDown", "PageDown", "PageDown", "PageDown", "PageDown", "PageUp", "PageDown", "1")
    clock.get_by_text("3 of 3").wait_for()
    guess.get_by_text("It falls").wait_for()


def test_nothing_moves_by_itself_where_motion_is_not_wanted(open_page: Open) -> None:
    page = open_page("", "Attention Lab", reduced_motion="reduce")
    page.get_by_text("0 of 6 right, untrained.").wait_for()
    assert page.evaluate("document.getAnimations().every((one) => one.effect.getComputedTiming().duration <= 1)")


@pytest.mark.thorough
def test_enlarged_the_lab_trains_an_issue_asks_on_its_first_screen_and_nothing_is_cut_off(open_page: Open) -> None:
    def nothing_is_cut_off_enlarged(*elements: Any) -> None:
        for window in ZOOM:
            page.set_viewport_size(window)
            settled(page)
            nothing_is_cut_off(page)
            in_view(*elements)

    page = open_page("lab?steps=60", "Lab", ZOOM[0])
    settled(page)  # in a small window the button moves while what stands above it comes
    button(page, "Train").click()
    page.locator(".live .badge").get_by_text("Finished").wait_for()
    nothing_is_cut_off_enlarged()
    longest = max(ISSUES, key=lambda slug: len(ISSUES[slug].key_figure.question))
    for issue in (longest, "missing-mask"):  # the longest question, and one of usual length
        go(page, f"questions?issue={issue}&seeds=1")
        button(page, "Show the answer").wait_for()
        nothing_is_cut_off_enlarged(button(page, "Show the answer"))
    button(page, "Show the answer").click()
    page.get_by_text("Because").wait_for()
    nothing_is_cut_off_enlarged()
