"""xPos, a rotation whose products decay with distance: settings, rules and registry row."""

from collections.abc import Iterator
from math import ceil, log

from engine.encodings.base import EncodingSpec, RotationSettings
from engine.settings.architectures import architecture_of
from engine.settings.base import BaseConfig
from engine.settings.costs import MIXED
from engine.settings.fields import setting

LARGEST_LOG_FACTOR = {"float32": 80.0, MIXED: 80.0, "bfloat16": 80.0, "float16": 8.0}
"""Largest logarithm of the factor that keys are multiplied by: e^88 is the end of float32, e^11 of float16."""


class XposSettings(RotationSettings):
    xpos_scale_base: float = setting(
        512.0, "Decay length B", "In positions. A larger value makes far products fade later.", ge=1.0, le=1e6
    )
    xpos_gamma: float = setting(
        0.4, "Decay γ", "A larger value makes the fast pairs fade less. The slowest hardly fade.", ge=0.01, le=100.0
    )

    def broken_rules(self, config: BaseConfig) -> Iterator[tuple[str, str]]:
        if not architecture_of(config).attends:
            return
        # A decoder reads its question and its answer: twice the length.
        last = 2 * max(config.seq_len, *config.test_lengths, 0) * config.randomized_positions
        least = 2 * last * log((1 + self.xpos_gamma) / self.xpos_gamma) / LARGEST_LOG_FACTOR[config.dtype]
        if self.xpos_scale_base < least:
            too_fast = f"a faster decay leaves the range of {config.dtype} at these lengths"
            yield "xpos_scale_base", f"a number from {ceil(least)}: {too_fast}"


SPEC = EncodingSpec(
    name="xpos", label="xPos", acts_on="rotation", settings=XposSettings,
    equation=r"e_{ij} = (\zeta^{i/B} R_i q_i) \cdot (\zeta^{-j/B} R_j k_j) / \sqrt{d_h},\quad \zeta_t = \frac{2t/d_h + \gamma}{1 + \gamma}",
    source="Sun et al. 2022, A Length-Extrapolatable Transformer, section 2.2", url="https://arxiv.org/abs/2212.10554",
    layer="engine.encodings.xpos.layer:Xpos", color="#A910A6", relative=True,
    symbols=(("B", "xpos_scale_base"), (r"\gamma", "xpos_gamma"), ("d_h", "head_width")),
)  # fmt: skip
