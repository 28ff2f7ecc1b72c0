import re
from pathlib import Path

import numpy as np
import pytest

from engine.experiments.benchmark.criteria import NEEDS
from tests.browser.conftest import PHONE, Open, button, columns, figure, fits_the_width, saved, wait_for_plot


@pytest.mark.thorough
def test_a_control_redraws_what_it_changes_and_a_design_is_run_and_found_again_on_a_phone(open_page: Open) -> None:
    page = open_page("encodings?a=learned&b=rope&seq_len=16&against=nope&tasks=permutation&seeds=1", "Encodings")
    unchanged, changed = wait_for_plot(page, "matrix.a"), wait_for_plot(page, "matrix.b")
    assert "added value for each position and dimension" in unchanged.get_attribute("aria-label")
    before = unchanged.get_attribute("data-draws")
    changed.evaluate("(plot) => { plot.marked = true }")
    page.get_by_role("button", name="Sizes, parameters").click()
    page.get_by_role("spinbutton", name="Base").fill("100")
    page.keyboard.press("Enter")
    wait_for_plot(page, "matrix.b", least=int(changed.get_attribute("data-draws")) + 1)
    page.wait_for_url(re.compile(r"base=100"))
    assert changed.evaluate("(plot) => plot.marked")
    assert unchanged.get_attribute("data-draws") == before, "a learned table has no base: nothing of it changed"
    page.get_by_text("Position 17 has no row").wait_for()
    page.get_by_text("Similarity, and profile over distance").click()
    wait_for_plot(page, "profile.b")

    button(page, "Design your own").click()
    page.get_by_text("Fourier features of the position, read out by a linear map").wait_for()
    page.get_by_role("combobox", name=re.compile("Features")).click()
    page.get_by_role("option", name="Table, a row for each", exact=True).click()
    page.get_by_text("The last 16 positions have no rows.").first.wait_for()
    assert changed.evaluate("(plot) => plot.marked"), "the other side stays on its node"
    button(page, "Run").click()
    page.wait_for_url(re.compile("experiment=.*design_features=table"))
    page.locator(".badge").get_by_text("Finished").wait_for()

    page.set_viewport_size(PHONE)
    page.goto(page.url)
    page.locator(".badge").get_by_text("Finished").wait_for()
    fits_the_width(page)
    button(page, "Your needs").click()
    page.get_by_role("button", name=NEEDS["absolute"], exact=True).click()
    page.get_by_text(re.compile(f"among the best if you must {NEEDS['absolute']}")).wait_for()
    page.keyboard.press("Escape")
    page.get_by_text("Every number:").click()
    page.get_by_role("row", name=re.compile("^RoPE")).get_by_role("link").first.wait_for()
    fits_the_width(page)


@pytest.mark.thorough
def test_a_layers_own_encoding_is_chosen_in_the_lab(open_page: Open) -> None:
    page = open_page("lab?pos_encoding=cope&n_layers=2&steps=10", "Lab")
    button(page, "Train").click()
    layer = page.get_by_label("Layer of the encoding")
    page.get_by_role("img", name=re.compile("^The encoding")).scroll_into_view_if_needed()  # else it is not drawn
    page.get_by_role("img", name=re.compile("^The encoding, layer 1")).wait_for()
    layer.select_option("Layer 2")
    page.get_by_role("img", name=re.compile("^The encoding, layer 2")).wait_for()
    page.get_by_text("More figures").click()
    page.get_by_role("img", name=re.compile("^Similarity of positions")).scroll_into_view_if_needed()
    page.get_by_role("img", name=re.compile("^Similarity of positions, layer 2")).wait_for()


def test_saved_data_and_hover_are_the_numbers_of_the_formulas_at_length_512(open_page: Open, tmp_path: Path) -> None:
    page = open_page("encodings?a=sinusoidal&b=alibi&seq_len=512", "Encodings")

    def numbers(panel: str) -> dict[str, np.ndarray]:
        wait_for_plot(page, panel)
        return columns(saved(figure(page, panel), "Data (CSV)", tmp_path))

    sinusoid = numbers("matrix.a")
    position, dimension = sinusoid["position"] - 1, sinusoid["dimension"] - 1
    angle = position * 10_000.0 ** -(2 * (dimension // 2) / 64)
    right = np.where(dimension % 2 == 0, np.sin(angle), np.cos(angle))
    np.testing.assert_allclose(sinusoid["value"], right, rtol=0, atol=1e-5)
    assert (position.min(), dimension.max()) == (0, 63), "both are told from 1"
    assert position.max() > 1000, "twice the trained length"

    alibi = numbers("matrix.b")
    slope = 2.0 ** (-8 * alibi["head"] / 4)
    distance = alibi["query position"] - alibi["key position"]
    np.testing.assert_allclose(alibi["value"], -slope * distance, rtol=0, atol=1e-5)
    assert set(alibi["head"]) == {1, 2, 3, 4}
    assert distance.min() == 0, "no query looks at what comes after it"

    # By keyboard and by pointer, at distance 0: the first cell, and one on the diagonal of the first head.
    plot = wait_for_plot(page, "matrix.b")
    plot.press("ArrowRight")
    hover_text = "ALiBi: bias added to the scores: head 1, key position 1, query position 1: 0"
    page.get_by_text(hover_text, exact=True).wait_for(state="attached")
    at = (
        "({ _fullLayout: { xaxis, yaxis } }) => [xaxis._offset + xaxis.l2p(40), yaxis._offset + yaxis.l2p(40 * 17 + 1)]"
    )
    x, top = plot.evaluate(at)
    box = plot.bounding_box()
    page.mouse.move(round(box["x"] + x), round(box["y"] + top))  # at whole pixels; a cell is 1.6 wide
    label = page.locator('[data-id="matrix.b"] .hoverlayer')
    label.get_by_text("query position 681, head 1, key position 681: 0.00", exact=True).wait_for()
