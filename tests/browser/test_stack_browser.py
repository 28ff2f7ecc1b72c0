import re
from pathlib import Path
from typing import Any

import pytest

from engine.experiments.lessons import Lesson, lab_step, to_code
from engine.foundation.provenance import stamp
from tests.browser.conftest import (
    PATIENCE,
    PHONE,
    PROJECTOR,
    SIZES,
    Open,
    button,
    eventually,
    expect,
    figure,
    fits_the_width,
    in_view,
    more,
    pictured,
    saved,
    settled,
)
from tests.browser.test_axe import violations
from tools.record import HOPS as HOPS_IN_TWO_LAYERS

HOPS = "lab?task=hops&vocab_size=4&seq_len=16&n_layers=4&n_heads=2&pos_encoding=rope&learning_rate=0.006&steps=300"
LARGE = "lab?n_layers=8&n_heads=8&d_model=64&seq_len=24"
SMALL = "lab?n_layers=2&n_heads=2&seq_len=6"
# JavaScript: the parts of a panel that reach beyond it, or have no room at all
WITHIN = """([panel, selector]) => {
  const outer = panel.getBoundingClientRect()
  return [...panel.querySelectorAll(selector)].filter((node) => {
    const box = node.getBoundingClientRect()
    return !box.width || box.left < outer.left || box.right > outer.right + 0.5 || box.bottom > outer.bottom + 0.5
  }).map((node) => node.outerHTML.slice(0, 120))
}"""


# JavaScript: clicks that come before the page has drawn the result of the first of them
THREE_CLICKS = """(panel) => {
  const press = (part, label) => {
    panel.querySelector(part).click()
    const buttons = [...panel.querySelectorAll('.part-box button')]
    buttons.find((one) => one.textContent === label).click()
  }
  press('.part.mask', 'Train without the mask')
  press('.part.skip', 'Train without skip connections')
  press('.part.embedding', 'Settings')
}"""


# JavaScript: the middle of a line of the picture, in the window
MIDDLE = """(line) => {
  const { x, y } = line.getPointAtLength(line.getTotalLength() / 2)
  const box = line.ownerSVGElement.getBoundingClientRect()
  return [box.x + x, box.y + y]
}"""


def arrived(open_page: Open, path: str, size: str = "projector", **context: Any) -> Any:
    return pictured(open_page(path, "", SIZES[size], **context))


def stack(page: Any) -> Any:
    return page.locator("article.stack")


def texts(page: Any, row: str) -> list[str]:
    return [text.strip() for text in stack(page).locator(f"[data-{row}]").all_inner_texts()]


def lines(page: Any, name: str) -> str:
    return "".join(
        stack(page)
        .locator(f".{name}, .{name} path")
        .evaluate_all("(all) => all.map((one) => one.getAttribute('d') ?? '')")
    )


def judged(page: Any) -> list[bool]:
    cells = stack(page).locator("[data-writes].right, [data-writes].wrong")
    return cells.evaluate_all("(all) => all.map((one) => one.classList.contains('right'))")


def line_above(page: Any) -> str:
    return stack(page).locator(".attends:not([hidden])").inner_text()


def outlined(page: Any) -> list[int]:
    return [int(cell.get_attribute("data-writes")) for cell in stack(page).locator("[data-writes].changed").all()]


def typed(page: Any, sequence: str) -> None:
    stack(page).get_by_label("Your own sequence").fill(sequence)
    stack(page).get_by_role("button", name="Try").click()


def remove_part(page: Any, part: str, choice: str = "Remove it") -> None:
    stack(page).locator(part).click()
    stack(page).get_by_role("dialog").get_by_role("button", name=choice).click()


def trained(page: Any) -> None:
    button(page, "Train").click()
    page.locator(".board .badge").get_by_text("Finished").wait_for()
    stack(page).locator(".score").get_by_text(re.compile("step [1-9]")).wait_for()


def test_a_deep_model_its_answers_and_two_figures_are_in_sight_and_a_window_of_any_size_is_used(
    open_page: Open,
) -> None:
    page = arrived(open_page, LARGE)
    panel, picture = stack(page), page.locator(".picture")
    answers = panel.locator("[data-writes]")
    figures = [figure(page, name).locator(".plot") for name in ("pattern", "accuracy")]

    def all_is_there() -> None:
        parts = ".tile, .part, .meter, [data-writes], [data-reads], [data-must]"
        assert page.evaluate(WITHIN, [panel.element_handle(), parts]) == []
        boxes = answers.evaluate_all("(all) => all.map((one) => one.getBoundingClientRect().toJSON())")
        assert min(box["left"] for box in boxes) >= 0
        assert max(box["right"] for box in boxes) <= page.viewport_size["width"] + 0.5
        assert min(box["width"] for box in boxes) > 6

    expect(panel.locator(".tile")).to_have_count(64)
    expect(panel.locator(".layer-row")).to_have_count(8)
    expect(answers).to_have_count(47)
    eventually(page, all_is_there)
    in_view(answers.last, *figures)
    assert panel.bounding_box()["height"] <= 400
    assert lines(page, "arcs")
    assert lines(page, "streams")

    small, last = picture.bounding_box()["height"], panel.locator(".meter.right").first
    page.set_viewport_size({"width": 1920, "height": 1080})

    def the_window_is_used() -> None:
        box, end = panel.bounding_box(), last.bounding_box()
        assert box["x"] + box["width"] - end["x"] - end["width"] < 80
        assert picture.bounding_box()["height"] > 1.25 * small

    eventually(page, the_window_is_used)

    page.set_viewport_size(PHONE)
    fits_the_width(page)
    eventually(page, all_is_there)
    panels = (
        panel,
        button(page, "Train"),
        page.locator(".st-key-lab-sentence"),
        page.get_by_role("combobox", name="Task"),
        page.get_by_role("spinbutton", name="Depth"),
        page.locator(".st-key-lab-rest summary"),
        *(figure(page, name) for name in ("accuracy", "pattern", "loss", "matrix")),
    )

    def what_is_used_first_comes_first() -> None:
        tops = [panel.first.bounding_box()["y"] for panel in panels]
        assert tops == sorted(tops)

    eventually(page, what_is_used_first_comes_first)

    page.set_viewport_size(PROJECTOR)
    depth = page.get_by_role("spinbutton", name="Depth")
    depth.fill("1")
    depth.press("Enter")
    expect(panel.locator(".layer-row")).to_have_count(1)
    page.get_by_test_id("stMain").evaluate("(main) => main.scrollTo(0, 0)")
    in_view(*figures)


def test_parts_are_shown_on_hover_reached_by_keys_and_taken_away_and_put_back_by_clicks(open_page: Open) -> None:
    page = arrived(open_page, SMALL)
    panel = stack(page)
    skip, norm, above = (panel.locator(f'.part.{name}') for name in (
        'skip[data-layer="1"]', 'norm[data-layer="1"]', 'skip[data-layer="0"]'))  # fmt: skip
    layer, dialog = panel.locator('.part.layer[data-layer="1"]'), panel.get_by_role("dialog")
    answers, heads = texts(page, "writes"), panel.locator("canvas").first.evaluate("(one) => one.toDataURL()")
    stands = panel.bounding_box()

    # By the pointer.
    expect(skip).to_have_css("opacity", "0")
    expect(panel.locator(".heading.gradient")).to_be_hidden()
    layer.hover()
    expect(skip).to_have_css("opacity", "1")
    expect(above).to_have_css("opacity", "0")
    panel.locator(".heading.right").hover()
    expect(skip).to_have_css("opacity", "0")

    # By keys: one stop of Tab for each kind, and from one part to the next by arrows.
    for selector in (".part", ".tile", "[data-reads]"):
        stops = panel.locator(selector).evaluate_all("(all) => all.filter((one) => one.tabIndex === 0).length")
        assert stops == 1, selector
    layer.focus()
    page.keyboard.press("ArrowRight")
    expect(skip).to_be_focused()
    expect(norm).to_have_css("opacity", "1")
    page.keyboard.press("ArrowDown")
    expect(above).to_be_focused()
    page.keyboard.press("Enter")
    panel.get_by_role("dialog", name="Skip connection of layer 1").wait_for()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(above).to_be_focused()
    page.keyboard.press("Enter")
    dialog.wait_for()
    panel.locator('[data-reads="3"]').focus()
    expect(dialog).to_have_count(0)
    arcs = lines(page, "arcs")
    page.keyboard.press("ArrowRight")
    expect(panel.locator('[data-reads="4"]')).to_have_attribute("aria-selected", "true")
    panel.get_by_text(re.compile("Position 5 reads")).wait_for()
    assert lines(page, "arcs") != arcs

    # Taken away, it stays in sight and its stretch of the stream is drawn as cut.
    assert not lines(page, "ablated-stream")
    remove_part(page, '.part.skip[data-layer="1"]')
    panel.locator('.part.skip.ablated[data-layer="1"]').wait_for()
    panel.get_by_text("Removed: skip connection of layer 2.").wait_for()
    issue = panel.get_by_role("link", name="Does a model need skip connections?")
    assert issue.get_attribute("href").endswith("questions?issue=missing-skips")
    assert lines(page, "ablated-stream").count("M") == 11, "the stretch past the second layer, at each position"
    expect(dialog).to_have_count(0)
    panel.locator(".heading.right").hover()
    panel.locator('[data-reads="0"]').focus()
    expect(norm).to_have_css("opacity", "0")
    expect(skip).to_have_css("opacity", "1")
    assert panel.bounding_box() == stands
    remove_part(page, '.tile[data-layer="0"][data-head="1"]')
    panel.locator('.tile.ablated[data-layer="0"][data-head="1"]').wait_for()
    remove_part(page, '.part.layer[data-layer="0"]')
    panel.locator(".layer-row.ablated").wait_for()
    panel.get_by_text("head 2 of layer 1, layer 1.").wait_for()
    panel.get_by_role("button", name="Put all back").click()
    expect(panel.locator(".ablated")).to_have_count(0)
    assert not lines(page, "ablated-stream")
    assert texts(page, "writes") == answers
    assert panel.locator("canvas").first.evaluate("(one) => one.toDataURL()") == heads

    remove_part(page, ".part.mask", "Train without the mask")
    page.wait_for_url(re.compile("mask_fault=missing"))
    page.wait_for_url(re.compile("run="))
    panel.locator(".part.mask.fault").wait_for()


@pytest.mark.thorough
def test_swapping_two_symbols_changes_other_answers_with_positions_only(open_page: Open, app: str) -> None:
    path = "lab?family=encoder&seq_len=6&steps=250&pos_encoding="
    page = open_page(f"{path}learned", "", PROJECTOR)
    for encoding in ("learned", "nope"):
        if encoding == "nope":
            page.goto(f"{app}{path}nope")
        trained(pictured(page))
        panel = stack(page)
        before, symbols = texts(page, "writes"), texts(page, "reads")
        panel.locator('[data-reads="4"]').click()
        one = next(at for at in range(3) if symbols[at] != symbols[5])
        boxes = [panel.locator(f'[data-reads="{at}"]').bounding_box() for at in (one, 5)]
        (x0, y0), (x1, y1) = [(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in boxes]
        page.mouse.move(x0, y0)
        page.mouse.down()
        page.mouse.move((x0 + x1) / 2, y0, steps=3)
        page.mouse.move(x1, y1, steps=3)
        page.mouse.up()
        announcement = panel.get_by_text(f"Symbols {one + 1} and 6 are swapped")
        announcement.wait_for()
        swapped = list(symbols)
        swapped[one], swapped[5] = symbols[5], symbols[one]
        assert texts(page, "reads") == swapped
        after = texts(page, "writes")
        others = [at for at in range(6) if at not in (one, 5)]
        expect(panel.locator("[aria-selected=true]")).to_have_attribute("data-reads", "4")
        expect(panel.locator(".pointed")).to_have_attribute("data-reads", "4")
        changed = [at for at in others if after[at] != before[at]]
        expect(panel.locator("[data-writes].changed")).to_have_count(len(changed))
        assert outlined(page) == changed
        if encoding == "nope":
            assert [after[at] for at in others] == [before[at] for at in others]
            assert (after[one], after[5]) == (before[5], before[one]), "each symbol keeps its answer"
            announcement.get_by_text("no answer changed at the other places").wait_for()
        else:
            assert after != before
        panel.get_by_role("button", name="Put all back").click()
        expect(announcement).to_have_count(0)
        assert texts(page, "writes") == before

        panel.locator('[data-reads="1"]').focus()
        page.keyboard.press("Shift+ArrowRight")
        panel.get_by_text("Symbols 2 and 3 are swapped").wait_for()
        assert texts(page, "reads")[1:3] == symbols[2:0:-1]


@pytest.mark.thorough
def test_an_open_box_follows_the_run_and_a_part_taken_away_is_judged_on_the_sequence_that_is_read(
    open_page: Open,
) -> None:
    page = arrived(open_page, f"{SMALL}&steps=3000")
    button(page, "Train").click()
    page.locator(".board .badge").get_by_text("Training").wait_for()
    # A click of the browser's would first wait until the picture stands still, maybe until the run is over.
    stack(page).locator('.part.skip[data-layer="1"]').dispatch_event("click")
    box = stack(page).get_by_role("dialog")
    take = box.get_by_role("button", name="Remove it")
    expect(take).to_be_disabled()
    box.get_by_text("To remove a part, wait").wait_for()
    expect(take).to_be_enabled(timeout=5 * PATIENCE)  # so many steps take long on a busy machine
    expect(box.get_by_text("While it trains")).to_have_count(0)
    take.click()
    stack(page).locator('.part.skip.ablated[data-layer="1"]').wait_for()
    stack(page).get_by_role("button", name="Put all back").click()
    expect(stack(page).locator(".ablated")).to_have_count(0)

    panel, head = stack(page), '.tile[data-layer="1"][data-head="0"]'
    typed(page, "1 2 3")
    panel.get_by_text("yours: ").wait_for()
    whole, right = texts(page, "writes"), judged(page)
    remove_part(page, head)
    panel.locator(f"{head}.ablated").wait_for()
    panel.get_by_text(re.compile(r"[\d,]+ of [\d,]+ answers lost")).wait_for()
    changed = [at for at, answer in enumerate(texts(page, "writes")) if answer != whole[at]]
    assert outlined(page) == changed
    lost = sum(before and not after for before, after in zip(right, judged(page), strict=True))
    panel.get_by_title(re.compile(f"in this one: {lost} of {sum(right)}\\)\\.")).wait_for()
    panel.get_by_text("The model is trained on 6 tokens; shorter sequences are new to it.").wait_for()
    after = line_above(page)

    panel.get_by_role("button", name="Put all back").click()
    expect(panel.locator(".ablated")).to_have_count(0)
    remove_part(page, head)
    panel.locator(f"{head}.ablated").wait_for()
    typed(page, "1 2 3")
    panel.get_by_text("yours: ").wait_for()
    assert line_above(page) == after, "the order of the two changes does not count"
    whose = figure(page, "pattern").get_by_text("Of the run’s own sequence, nothing removed.")
    whose.wait_for()
    below = figure(page, "pattern").bounding_box()["y"]
    typed(page, "1 2 3 4 5 6 7 8")
    panel.get_by_text("You gave 8 tokens; the model reads 2 to 6.").wait_for()
    assert figure(page, "pattern").bounding_box()["y"] <= below, "the reason moves nothing down"
    panel.get_by_role("button", name="Put all back").click()
    expect(whose).to_be_hidden()


@pytest.mark.thorough
def test_an_answer_is_followed_through_the_stack_and_the_head_that_brings_it_is_taken_away(open_page: Open) -> None:
    page = arrived(open_page, HOPS.replace("n_layers=4&n_heads=2", "n_layers=2&n_heads=1"), has_touch=True)
    trained(page)
    panel = stack(page)
    word = panel.locator('.attends .named[data-name^="head."]').first
    word.wait_for()
    name = word.get_attribute("data-name")
    layer, head = map(int, name.split(".")[1:])
    assert f"layer {layer + 1}" in line_above(page)
    assert str(head + 1) in word.inner_text()
    tile, hop = panel.locator(f'.tile[data-name="{name}"]'), panel.locator(f'.hops path[data-name="{name}"]').first
    expect(word).to_have_accessible_name(f"head {head + 1} of layer {layer + 1}")
    stops = panel.locator(".attends .named").evaluate_all("(all) => all.filter((one) => one.tabIndex === 0).length")
    assert stops == 1
    lit = re.compile(r"\blit\b")
    for size in SIZES.values():
        page.set_viewport_size(size)
        settled(page)
        the_path_stands_out(page, word)
        expect(panel.locator(f'.layer-row.arrives[data-layer="{layer}"]')).to_have_count(1)
        fits_the_width(page)
        for act, target, lights in (
            ("hover", word, tile),
            ("hover", tile, word),
            ("focus", word, hop),
            ("focus", tile, word),
        ):
            expect(lights).not_to_have_class(lit)
            getattr(target, act)()
            expect(lights).to_have_class(lit)
            page.mouse.move(0, 0)
            target.evaluate("(node) => node.blur()")
            expect(panel.locator(".lit")).to_have_count(0)
        page.mouse.move(*hop.evaluate(MIDDLE))
        expect(word).to_have_class(lit)
        tile.tap()
        panel.get_by_role("dialog", name=f"Head {head + 1} of layer {layer + 1}").wait_for()
        expect(word).to_have_class(lit)
        page.keyboard.press("Escape")
        page.mouse.move(0, 0)
        tile.evaluate("(node) => node.blur()")
        expect(panel.locator(".lit")).to_have_count(0)

    panel.get_by_role("button", name="Remove this head").click()
    panel.locator(f'.tile.ablated[data-name="{name}"]').wait_for()
    panel.get_by_text(re.compile(r"[\d,]+ of [\d,]+ answers lost \(\d+ %\)\.")).wait_for()
    panel.get_by_title(re.compile(r"Counted in 100 other sequences \(in this one: \d+ of \d+\)\.")).wait_for()
    expect(panel.get_by_role("button", name="Remove this head")).to_have_count(0)
    panel.get_by_role("button", name="Put all back").click()
    expect(panel.locator(".ablated")).to_have_count(0)
    word.wait_for()
    assert violations(page) == []

    # The moment at which the answers first arose like that leads back to it.
    milestone = page.locator(".milestones button").filter(has_text=re.compile("^(induction|most answers in layer)"))
    step = int(re.search(r" · ([\d,]+)$", milestone.inner_text())[1].replace(",", ""))
    assert 0 < step < 300
    milestone.click()
    expect(page.locator(".board .replay input")).to_have_value(re.compile(rf"^{step}$"))
    panel.locator(".layer-row.arrives").wait_for()


@pytest.mark.thorough
def test_one_head_is_the_last_that_the_sentence_names_until_the_reader_chooses_another(open_page: Open) -> None:
    page = arrived(open_page, "lab?n_layers=2&seq_len=6&steps=200&seed=2600")
    trained(page)
    named = stack(page).locator('.attends .named[data-name^="head."]')
    named.first.wait_for()
    layer = named.last.get_attribute("data-name").split(".")[1]
    assert layer != "0", "the example tells something: the first head is what it begins with"
    one = figure(page, "pattern")
    one.scroll_into_view_if_needed()
    layers = one.get_by_label("Layer", exact=True)
    expect(layers).to_have_value(layer)
    layers.select_option("0")
    page.locator(".board .replay input").press("Home")
    page.locator(".board .replay input").press("End")
    expect(layers).to_have_value("0")


@pytest.mark.thorough
def test_where_it_is_presented_to_a_room_the_path_of_the_answer_stands_out(open_page: Open) -> None:
    page = open_page(f"teach?steps={to_code(Lesson('', (lab_step(5, HOPS_IN_TWO_LAYERS),)))}", "Teach", PROJECTOR)
    settled(page)  # the link's own lesson comes last
    button(page, "Present").last.scroll_into_view_if_needed()
    button(page, "Present").last.click()
    code = page.get_by_role("dialog", name="The link of this lesson as a QR code")
    code.wait_for()
    page.keyboard.press("Escape")
    expect(code).to_have_count(0)
    panel = stack(page)
    panel.locator(".layer-row").first.wait_for()
    page.keyboard.press("PageDown")
    page.get_by_role("radiogroup", name="Your guess").wait_for()
    page.keyboard.press("PageDown")  # the phase in which it trains
    page.locator(".board .badge").get_by_text("Finished").wait_for()
    word = panel.locator('.attends .named[data-name^="head.1."]').first
    word.wait_for()
    the_path_stands_out(page, word)
    in_view(word, panel.locator(".tile").first)
    fits_the_width(page)


def the_path_stands_out(page: Any, word: Any) -> None:
    """Check that the arcs of the named head are drawn strong, all others at a tenth."""
    expect(stack(page).locator(".arcs path").first).to_have_css("opacity", "0.1")
    hop = stack(page).locator(f'.hops path[data-name="{word.get_attribute("data-name")}"]').first
    expect(hop).to_have_css("opacity", "1")


@pytest.mark.thorough
def test_its_help_explains_it_a_head_is_shown_large_it_is_saved_and_clicks_while_the_page_draws_are_each_done_once(
    open_page: Open, tmp_path: Path
) -> None:
    page = arrived(open_page, f"{SMALL}&steps=50")
    panel = stack(page)
    panel.get_by_role("button", name="What this means: The model").click()
    box = panel.get_by_role("dialog", name="How to read the picture")
    box.get_by_text("A grey bar is the vector of one position").wait_for()
    expect(box.locator("p")).to_have_count(5)  # one for each sentence
    assert box.locator(".mini text").all_text_contents() == ["grey bar", "arc", "head", "right answer"]
    page.keyboard.press("Escape")
    expect(panel.get_by_role("dialog")).to_have_count(0)
    expect(panel.locator(".meter.right").first).to_have_attribute("aria-label", re.compile("the right answer"))
    expect(panel.locator(".heading.right")).to_have_attribute("title", re.compile("Probability of the right answer"))
    expect(panel.get_by_role("img", name=re.compile("Grey bars"))).to_have_count(1)
    expect(panel.locator(".heading.stream")).to_have_attribute("title", re.compile("Each grey bar"))

    drawing = saved(panel, "Drawing (SVG)", tmp_path).read_text("utf-8")
    assert drawing.startswith("<svg")
    assert f"<metadata>Attention Lab {stamp()}</metadata>" in drawing
    assert drawing.count("<image") == 4
    assert all(f">{symbol}</text>" in drawing for symbol in texts(page, "reads"))
    picture = saved(panel, "Picture (PNG)", tmp_path).read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) > 10_000

    tile = panel.locator('.tile[data-layer="1"][data-head="1"]')
    tile.click()
    large = panel.get_by_role("dialog", name="Head 2 of layer 2")
    large.get_by_text(re.compile("position")).first.wait_for()
    large.get_by_role("button", name="Show large").click()
    page.locator('article.pattern .plot[aria-label^="Layer 2, head 2"]').wait_for()
    expect(tile).to_have_attribute("aria-pressed", "true")
    panel.get_by_text(re.compile(r"\(head 2 of layer 2\)")).wait_for()
    tile.dblclick()
    panel.locator('.tile[data-layer="0"][data-head="0"]').dblclick()
    page.locator('article.pattern .plot[aria-label^="Layer 1, head 1"]').wait_for()

    stack(page).evaluate(THREE_CLICKS)
    page.wait_for_url(re.compile("skips=false.*mask_fault=missing.*run="))
    stack(page).locator(".part.mask.fault").wait_for()
    expect(stack(page).locator(".part.skip.off")).to_have_count(2)
    expect(page.locator(".st-key-lab-opened").get_by_text("Task")).to_have_count(1)
    page.locator(".board .badge").get_by_text("Finished").wait_for()
    more(page)
    expect(page.locator(".st-key-lab-recent button")).to_have_count(1)


@pytest.mark.thorough
def test_other_families_have_arcs_where_they_read_and_none_where_they_do_not(open_page: Open, app: str) -> None:
    page = arrived(open_page, "lab?family=encoder_decoder&n_layers=2&seq_len=6")
    panel = stack(page)
    assert lines(page, "arcs")
    expect(panel.locator(".tile")).to_have_count(6)
    panel.locator('[data-source="0"]').hover()
    panel.locator('[data-source="0"].pointed').wait_for()
    remove_part(page, '.part.skip[data-layer="0"]', "Remove it in the encoder")
    panel.get_by_text("Removed: skip connection of layer 1 of the encoder.").wait_for()
    for family in ("gru", "cnn"):
        page.goto(f"{app}lab?family={family}&n_layers=2&seq_len=6")
        pictured(page)
        assert bool(lines(page, "arcs")) == (family == "cnn")
        assert family == "cnn" or lines(page, "passed")
        remove_part(page, '.part.cell[data-layer="0"]')
        panel.locator(".layer-row.ablated").wait_for()
