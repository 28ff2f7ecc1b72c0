import math
from typing import Any

import pytest

from engine.experiments.sweeps.result import Summary
from engine.settings.costs import Memory
from pages.parts.charts import costs
from pages.parts.charts.costs import MEBIBYTES, MILLISECONDS, CostLine, cost_figure

MIB = 2**20
LEVELS = [Summary(64, 0.002, 0.001, 0.004, 3), Summary(128, 0.004, 0.003, 0.005, 3)]


def test_points_ranges_and_prediction_stand_on_logarithmic_axes_that_say_their_unit() -> None:
    line = CostLine(
        "fused.train", "Scores in blocks", "Scores in blocks", "#2A5BD7", LEVELS, [(64, 0.001), (128, 0.002)]
    )
    measured, predicted = cost_figure([line], [64, 128], "tokens", MILLISECONDS, "step").data
    assert (list(measured.x), list(measured.y)) == ([64, 128], pytest.approx([2, 4]))
    assert list(measured.error_y.array) == pytest.approx([2, 1])
    assert list(measured.error_y.arrayminus) == pytest.approx([1, 1])
    assert measured.name == "Scores in blocks"
    assert list(predicted.y) == pytest.approx([1, 2])
    assert len({trace.uid for trace in (measured, predicted)}) == 2

    drawn = cost_figure([CostLine("a", "A", "A", "#2A5BD7", ())], [64, 4096], "tokens", MEBIBYTES, "saved")
    assert (drawn.layout.xaxis.type, drawn.layout.yaxis.type) == ("log", "log")
    assert drawn.layout.yaxis.title.text == "saved (MiB)"
    assert drawn.layout.xaxis.title.text == "tokens"


def test_names_stand_at_the_right_end_where_no_line_is_and_apart() -> None:
    long = [*LEVELS, Summary(256, 0.004, 0.004, 0.004, 3)]
    lines = [CostLine(name, name, name, "#2A5BD7", levels) for name, levels in (("ends early", LEVELS), ("long", long))]
    early, other = cost_figure(lines, [64, 128, 256], "tokens", MILLISECONDS, "step").layout.annotations
    assert early.x == other.x == pytest.approx(math.log10(256))
    assert (early.y, other.y) == (pytest.approx(math.log10(4)),) * 2
    assert abs(early.yshift - other.yshift) >= costs.ROW


@pytest.mark.parametrize("count", [1, 2, 7, 8, 12])
def test_the_last_place_always_has_its_tick(count: int) -> None:
    ticks: Any = costs.ticks_axis([64 << power for power in range(count)])["tickvals"]
    assert ticks[-1] == 64 << (count - 1)
    assert len(ticks) <= 7


def test_parts_add_up_to_the_total() -> None:
    memory = Memory(MIB, MIB, 2 * MIB, 10 * MIB, 6 * MIB, peak=20 * MIB)
    drawn = costs.parts_figure([(64, memory)], [(64, memory)], "tokens", "#2A5BD7")
    bars = [trace for trace in drawn.data if trace.type == "bar"]
    assert {bar.name: bar.y[0] for bar in bars}["scores"] == 6
    assert sum(bar.y[0] for bar in bars) == 14
    dots = {trace.name: trace.y[0] for trace in drawn.data if trace.type == "scatter"}
    assert dots == {"measured": 14, "measured peak": 20}
