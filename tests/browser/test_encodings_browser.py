"""The encodings page in a real browser: figures that stay on their nodes, their exact numbers, the link, the evidence."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from engine.experiments.choice import NEEDS
from engine.experiments.issues import ISSUES
from pages.parts.encodings.state import VIEWS, config_of
from tests.browser.conftest import PHONE, no_wider_than_the_window

Open = Callable[..., Any]


def drawn(page: Any, panel: str, least: int = 1) -> Any:
    """The plot of a panel once it was drawn so many times."""
    plot = page.locator(f'[data-id="{panel}"] .plot')
    plot.scroll_into_view_if_needed()
    page.locator(f'[data-id="{panel}"] .plot[data-draws]').wait_for()
    handle = plot.element_handle()
    page.wait_for_function("([plot, least]) => Number(plot.dataset.draws) >= least", arg=[handle, least])
    return plot


def test_a_control_redraws_what_it_changes_training_is_looked_at_and_the_evidence_fits_a_phone(
    open_page: Open, app: str
) -> None:
    page = open_page("encodings?a=learned&b=rope&seq_len=16", "Encodings")
    kept, changed = drawn(page, "matrix.a"), drawn(page, "matrix.b")
    assert "added value for each position and dimension" in kept.get_attribute("aria-label")
    before = kept.get_attribute("data-draws")
    changed.evaluate("(plot) => { plot.marked = true }")
    page.get_by_role("spinbutton", name="Base").fill("100")
    page.keyboard.press("Enter")
    drawn(page, "matrix.b", least=int(changed.get_attribute("data-draws")) + 1)
    page.wait_for_url(re.compile(r"base=100"))
    assert changed.evaluate("(plot) => plot.marked")
    assert kept.get_attribute("data-draws") == before, "a learned table has no base: nothing of it changed"
    page.get_by_text("Position 16 has no row").wait_for()
    drawn(page, "trajectory.b")

    # A layer's own encoding is chosen in the lab and looked at along its training.
    page.goto(f"{app}lab?pos_encoding=cope&n_layers=2&steps=10")
    page.get_by_role("button", name="Train", exact=True).click()
    layer = page.get_by_label("Layer of the encoding")
    page.get_by_role(
        "img", name=re.compile("^The encoding")
    ).scroll_into_view_if_needed()  # out of sight it is not drawn
    page.get_by_role("img", name=re.compile("^The encoding, layer 1")).wait_for()
    layer.select_option("Layer 2")
    for title in ("The encoding", "How alike positions are"):
        page.get_by_role("img", name=re.compile(f"^{title}, layer 2")).wait_for()
    page.wait_for_url(re.compile("run="))
    run = re.search("run=([^&]+)", page.url)
    assert run
    page.goto(f"{app}encodings?view=training&layer=2&run={run[1]}")
    page.get_by_text("shown is that of layer 2").wait_for()
    drawn(page, "matrix.then")

    page.set_viewport_size(PHONE)
    page.get_by_role("radio", name=VIEWS["choose"]).click()
    page.get_by_role("button", name=NEEDS["longer"], exact=True).click()
    page.get_by_text("The evidence supports").wait_for()
    cell = page.get_by_role("row", name=re.compile("^RoPE")).get_by_role("link").first
    assert "seeds" in cell.get_attribute("title")
    assert cell.get_attribute("href").removeprefix("issues?issue=").partition("&")[0] in ISSUES
    no_wider_than_the_window(page)


def saved(page: Any, panel: str, folder: Path) -> dict[str, np.ndarray]:
    """The columns of a panel's data as they are downloaded, without the series."""
    article = page.locator(f'[data-id="{panel}"]')
    article.locator("summary").click()
    with page.expect_download() as download:
        article.get_by_role("menuitem", name="Data (CSV)").click()
    file = folder / download.value.suggested_filename
    download.value.save_as(file)
    _, *names = next(csv.reader(file.open()))
    columns = np.loadtxt(file, delimiter=",", skiprows=1, usecols=range(1, len(names) + 1)).T
    return dict(zip(names, columns, strict=True))


def test_saved_data_and_hover_are_the_numbers_of_the_formulas_at_length_512(open_page: Open, tmp_path: Path) -> None:
    page = open_page("encodings?a=sinusoidal&b=alibi&seq_len=512", "Encodings", accept_downloads=True)
    drawn(page, "matrix.a")
    drawn(page, "matrix.b")
    sinusoid = saved(page, "matrix.a", tmp_path)
    position, dimension = sinusoid["position"], sinusoid["dimension"]
    angle = position * 10_000.0 ** -(2 * (dimension // 2) / 64)
    right = np.where(dimension % 2 == 0, np.sin(angle), np.cos(angle))
    np.testing.assert_allclose(sinusoid["value"], right, rtol=0, atol=1e-5)
    assert (position.min(), dimension.max()) == (0, 63)
    assert position.max() > 1000, "twice the trained length"

    alibi = saved(page, "matrix.b", tmp_path)
    slope = 2.0 ** (-8 * alibi["head"] / 4)
    distance = alibi["query position"] - alibi["key position"]
    np.testing.assert_allclose(alibi["value"], -slope * distance, rtol=0, atol=1e-5)
    assert set(alibi["head"]) == {1, 2, 3, 4}
    assert distance.min() == 0, "no query looks at what comes after it"

    drawn(page, "similarity.b")
    mean = saved(page, "similarity.b", tmp_path)
    slopes = 2.0 ** (-8 * np.arange(1, 5) / 4)
    right = -slopes.mean() * (mean["position"] - mean["other position"])
    np.testing.assert_allclose(mean["value"], right, rtol=0, atol=1e-5)

    # By keyboard and by pointer, at distance 0: the first cell, and one on the diagonal of the first head.
    plot = drawn(page, "matrix.b")
    plot.press("ArrowRight")
    page.get_by_text("The bias of each head: ALiBi: head 1, key position 0, query position 0: 0", exact=True).wait_for(
        state="attached"
    )
    left, top = plot.evaluate(
        "({ _fullLayout: { xaxis, yaxis } }) => [xaxis._offset + xaxis.l2p(40), yaxis._offset + yaxis.l2p(40 * 17)]"
    )
    box = plot.bounding_box()
    page.mouse.move(
        round(box["x"] + left), round(box["y"] + top)
    )  # a pointer stands at whole pixels, a cell is 1.6 wide
    label = page.locator('[data-id="matrix.b"] .hoverlayer')
    label.get_by_text("query position 680, head 1, key position 680: 0.00", exact=True).wait_for()

    page.goto(page.url.replace("b=alibi", "b=t5_bias"))
    drawn(page, "matrix.b")
    t5 = saved(page, "matrix.b", tmp_path)
    distance = t5["query position"] - t5["key position"]
    with np.errstate(divide="ignore"):
        far = 16 + np.floor(np.float32(np.log(distance / 16) / np.log(128 / 16)) * 16)
    bucket = np.where(distance < 16, distance, np.minimum(far, 31)).astype(int)
    table = first_table("t5_bias")  # [bucket, head]
    np.testing.assert_allclose(t5["value"], table[bucket, t5["head"].astype(int) - 1], rtol=0, atol=1e-5)
    assert len(np.unique(t5["value"])) == 4 * len(np.unique(bucket)), "one number a head and bucket"


def first_table(name: str) -> np.ndarray:
    """The biases that this encoding learns, as they are drawn before training with the page's own settings."""
    from engine.analysis.encodings.portraits import first_weights

    table: Any = first_weights(config_of({"a": "sinusoidal", "b": name, "seq_len": 512}, "b"))
    return np.asarray(table.biases.detach().numpy())
