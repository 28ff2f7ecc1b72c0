import re
from functools import partial
from typing import Any

import pytest

from engine.config.presets import PRESETS
from tests.browser.conftest import (
    SIZES,
    Open,
    button,
    eventually,
    expect,
    fits_the_width,
    go,
    more,
    pictured,
    settled,
)

# JavaScript: the number of elements in the window that take the focus
CONTROLS = """() => {
  const kinds = 'a[href], button, input, select, summary, [role=button], [role=slider], [role=radio], [role=combobox], [tabindex="0"]'
  const seen = (node) => {
    const { width, height, top, bottom } = node.getBoundingClientRect()
    return width && height && top < innerHeight && bottom > 0 && node.checkVisibility({ opacityProperty: true, visibilityProperty: true })
  }
  const within = (root) => [...root.querySelectorAll('*')].flatMap((node) => [node, ...(node.shadowRoot ? within(node.shadowRoot) : [])])
  return within(document).filter((node) => node.matches(kinds) && seen(node) && !node.parentElement.closest('button, a[href]')).length
}"""
# JavaScript: from here on, add up how much of the window moves by itself
SHIFTS = """() => {
  window.shifted = 0
  new PerformanceObserver((list) => { for (const { value } of list.getEntries()) window.shifted += value })
    .observe({ type: 'layout-shift', buffered: true })
}"""


def arrived(open_page: Open, size: str, path: str = "lab") -> Any:
    return pictured(open_page(path, "", SIZES[size]))


def in_sight(page: Any, *elements: Any) -> None:
    """Check that each begins within the screen, without scrolling."""
    window = page.viewport_size

    def begins(element: Any) -> None:
        box = element.bounding_box()
        assert box is not None, str(element)  # it is drawn anew
        assert 0 <= box["y"] < window["height"] - 40, (str(element), box)
        assert box["x"] < window["width"]

    for element in elements:
        element.wait_for()
        eventually(page, partial(begins, element))


def written(page: Any) -> list[str]:
    return list(page.locator("article.stack [data-writes]").all_inner_texts())


def differ(page: Any, before: list[str]) -> None:
    assert pictures(page) != before


def says_time_left(page: Any) -> None:
    """The line of status has room for the time left; words without room stand below it, unseen."""
    assert page.locator(".live .facts").evaluate(
        """(facts) => {
          const [step, left] = ["step", "left"].map((word) => [...facts.children].find((one) => one.innerText.includes(word)))
          return left && step.offsetTop === left.offsetTop
        }"""
    )


def pictures(page: Any) -> list[str]:
    return list(page.locator("article.stack canvas").evaluate_all("(all) => all.map((one) => one.toDataURL())"))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.thorough
def test_all_is_there_on_arrival_and_a_second_run_moves_no_figure(open_page: Open, size: str) -> None:
    page = arrived(open_page, size, "lab?steps=20000")
    train, stop = (button(page, name) for name in ("Train", "Stop"))
    stack, curve = page.locator("article.stack"), page.locator("article.accuracy")
    chips, heads = (
        page.locator(".st-key-lab-recent").get_by_role("button"),
        page.get_by_role("spinbutton", name="Heads"),
    )

    def top() -> float:
        """The distance of the accuracy from the page's beginning, wherever the page is scrolled to."""
        return float(curve.bounding_box()["y"] - stack.bounding_box()["y"])

    in_sight(page, stack, train, page.locator(".st-key-lab-sentence"), page.get_by_role("spinbutton", name="Depth"))
    fits_the_width(page)
    more(page)
    page.locator(".fold > summary").click()
    for panel in page.locator("article.panel").all():
        if panel.is_visible():
            panel.scroll_into_view_if_needed()
            panel.locator(".waiting").wait_for(state="hidden")
    lower, below = (
        page.locator(f"article.{name} .body").bounding_box()["height"] for name in ("accuracy", "gradients")
    )
    assert (lower < below) == (size == "projector")  # on its first screen
    stack.scroll_into_view_if_needed()
    stands, before = top(), written(page)

    def stays() -> None:
        assert abs(top() - stands) < 1

    train.click()
    stack.locator(".score").get_by_text(re.compile("step [1-9]")).wait_for()
    in_sight(page, stack, curve if size == "projector" else stack.locator(".curve"))
    stack.locator(".curve").get_by_text(re.compile(r"^loss \d")).wait_for()
    for run in (1, 2):
        if run == 2:
            heads.fill("2")
            heads.press("Enter")
            page.wait_for_url(re.compile("n_heads=2"))
            train.click()
        expect(chips).to_have_count(run)
        chips.first.get_by_text("this run").wait_for()
        page.locator(".milestones button").nth(1).wait_for()
        if run == 1 and size == "phone":
            stands = top()
        eventually(page, stays)
        if run == 1:
            stack.locator("[data-writes].right").nth(len(before) // 2).wait_for()  # it has learned something
            assert written(page) != before
            eventually(page, lambda: says_time_left(page))
        if size == "projector":
            assert page.get_by_role("slider", name="Look back at a step").bounding_box()["width"] >= 150
        stop.click()
        expect(stop).to_have_count(0)  # the page is drawn anew when a run has ended; a dialog that is open then closes
    if size == "phone":
        return

    # Two recent runs are there, one behind the other, and side by side.
    overlays = "(plot) => plot.data.filter((trace) => trace.meta.overlay).length"
    drawn = curve.locator(".plot").evaluate(overlays)
    assert drawn > 0
    for panel in ("accuracy", "loss"):
        least = "(plot) => plot._fullLayout._size.h > 90 && plot._fullLayout.legend._height < 40"
        page.wait_for_function(least, arg=page.locator(f"article.{panel} .plot").element_handle())
    page.locator(".st-key-lab-recent").get_by_text("Recent runs: Heads", exact=True).wait_for()
    expect(chips.nth(1)).to_have_text(re.compile("^● 1"))  # the value alone
    chips.nth(1).click()
    page.get_by_role("button", name="Compare attention").click()
    page.get_by_role("heading", name="Two runs side by side").wait_for()
    page.get_by_role("button", name="Hide curves").click()
    page.get_by_role("button", name="Show curves").wait_for()
    curve.scroll_into_view_if_needed()  # what is out of sight is not drawn
    page.wait_for_function(
        "([plot, drawn]) => plot.data.filter((trace) => trace.meta.overlay).length < drawn",
        arg=[curve.locator(".plot").element_handle(), drawn],
    )
    page.get_by_role("button", name="Remove").dispatch_event("click")  # it went out of sight with its chip
    expect(chips).to_have_count(1)
    expect(page.get_by_role("heading", name="Two runs side by side")).to_have_count(0)


@pytest.mark.thorough
def test_little_stands_on_the_first_screen_and_the_untrained_model_is_changed_in_its_controls_and_in_its_picture(
    open_page: Open,
) -> None:
    page = arrived(open_page, "projector")
    settled(page)
    assert page.evaluate(CONTROLS) <= 24
    loss, menu = page.locator("article.loss"), page.locator("article.accuracy .menu")
    expect(menu).to_have_css("opacity", "0")
    page.locator("article.accuracy").hover()
    expect(menu).to_have_css("opacity", "1")
    page.get_by_role("spinbutton", name="Depth").focus()
    expect(page.get_by_role("button", name="Help for Depth")).to_have_css("opacity", "1")
    expect(page.get_by_role("button", name="Help for Heads")).to_have_css("opacity", "0")
    loss.get_by_role("button", name="Log").focus()
    expect(loss.locator(".choice")).to_have_css("opacity", "1")

    sequence_field = page.get_by_role("textbox", name="Your own sequence")
    sequence_field.fill("1 2 3 4 5 6")
    sequence_field.press("Enter")
    stack = page.locator("article.stack")
    stack.locator(".score").get_by_text("yours").wait_for()
    assert stack.locator("[data-reads]").all_inner_texts()[:6] == ["1", "2", "3", "4", "5", "6"]
    sequence_field.fill("1 2 nothing")
    sequence_field.press("Enter")
    stack.get_by_role("alert").get_by_text("nothing").wait_for()
    stack.get_by_role("button", name="Put all back").click()

    before = pictures(page)
    heads = page.get_by_role("spinbutton", name="Heads")
    heads.fill("2")
    heads.press("Enter")
    stack.locator("canvas").nth(1).wait_for()
    stack.locator(".score").get_by_text("untrained").wait_for()
    eventually(page, partial(differ, page, before))

    stack.locator(".part.encoding").click()
    stack.get_by_role("dialog").get_by_role("button", name="Settings").click()
    opened = page.locator(".st-key-lab-opened")
    in_sight(page, opened)
    opened.get_by_role("button", name="Close").click()
    opened.wait_for(state="detached")

    depth = page.get_by_role("spinbutton", name="Depth")
    depth.fill("2")
    depth.press("Enter")
    stack.locator(".layer-row").nth(1).wait_for()
    skip = stack.locator(".part.skip").first
    skip.click()
    stack.get_by_role("dialog").get_by_role("button", name="Train without skip connections").click()
    page.wait_for_url(re.compile("skips=false"))
    stack.locator(".part.skip.off").first.wait_for()
    stack.get_by_text("This model has no skip connections.").wait_for()
    page.locator(".board .badge").get_by_text("Finished").wait_for()
    more(page).get_by_role("button", name="Delete").wait_for()  # the script run of the end would close the box of Share
    settled(page)  # until then the page grows, and takes the box along
    more(page).get_by_role("button", name="Share").click()
    page.get_by_text("All settings as a link and a command").click()
    page.get_by_text(re.compile(r"python -m engine train .*--skips false")).wait_for()
    page.keyboard.press("Escape")
    skip.focus()
    page.keyboard.press("Enter")
    stack.get_by_role("dialog").get_by_role("button", name="Train with skip connections").click()
    page.wait_for_url(lambda url: "skips" not in url)


@pytest.mark.thorough
def test_a_preset_opens_on_what_its_sentence_speaks_of_and_what_to_try_next_is_one_click(open_page: Open) -> None:
    page = arrived(open_page, "projector")
    deepest = {
        preset.view.panel: slug for slug, preset in sorted(PRESETS.items(), key=lambda row: row[1].config.n_layers)
    }
    for slug in deepest.values():  # of those with one figure, that with the highest picture above it
        preset = PRESETS[slug]
        go(page, "notebooks")  # a link is read when the lab is entered
        page.locator("article.stack").wait_for(state="detached")
        go(page, f"lab?preset={slug}")
        page.get_by_text(preset.look_at[:30]).first.wait_for()
        pictured(page)
        panel = preset.view.panel
        beside = f"article.{panel}" if panel != "attention" else "article.attention:not([hidden]), article.pattern"
        in_sight(page, page.locator(beside).first)

    go(page, "notebooks")
    page.locator("article.stack").wait_for(state="detached")
    go(page, "lab?v=1&pos_encoding=rope")
    pictured(page)
    button(page, "Train").click()
    again = page.get_by_role("button", name=re.compile("Try Depth 2"))
    again.wait_for()
    in_sight(page, again, page.get_by_role("link", name="See the question"))
    again.click()
    page.wait_for_url(re.compile("n_layers=2"))
    page.locator("article.stack .layer-row").nth(1).wait_for()


@pytest.mark.acceptance  # on a busy machine more comes late than elsewhere
@pytest.mark.parametrize("size", SIZES)
def test_nothing_moves_on_arrival(open_page: Open, size: str) -> None:
    page = open_page("lab", "", SIZES[size], before=lambda page: page.add_init_script(f"({SHIFTS})()"))
    page.locator("article.stack [data-writes]").first.wait_for()
    settled(page)
    assert page.evaluate("window.shifted") < 0.1
