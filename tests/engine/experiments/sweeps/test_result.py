import pytest

from engine.experiments.sweeps.result import onward


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_onward_follows_the_law_of_the_last_two_and_is_cautious_where_little_is_known(power: float) -> None:
    assert onward([(64, 9.0), (128, 128**power), (256, 256**power)], 1024) == pytest.approx(1024**power)
    assert onward([(64, 1.0)], 128) == 4.0  # the square
    assert onward([(64, 1.0), (128, 0.5)], 256) == 0.5  # noise: never less than before
    assert onward([(64, 1.0), (128, 100.0)], 256) == pytest.approx(100 * 2**2.5)  # nor steeper than any law here
