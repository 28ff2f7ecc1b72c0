"""RoPE, rotary position embedding: queries and keys are rotated, pair t of the dimensions by the angle i b^(-2t/d_h) at position
i, so that q_m . k_n depends on m - n alone.

Source: Su et al. 2021, RoFormer, equations 13 to 16. ``interleaved`` pairs neighbours (2t, 2t+1) as in the paper;
``rotate_half`` pairs (t, t + d_h/2). They agree once the dimensions of q and k are permuted. The rotation itself is in
:mod:`engine.encodings.base.rotation`.

Reading further than trained, without fine-tuning: a sequence that ends within the trained length L is rotated as it was
trained; one that ends beyond it, at length n, has all its rotations slowed by the scale s: the ``rope_scale_factor``, or
n / L where that is auto. Training never reads beyond L, so scaling changes no training. With theta_t = b^(-2t/d) the angle
per position of pair t:

- ``pi``    theta_t / s: position interpolation (Chen et al. 2023, Extending Context Window of Large Language Models via
  Positional Interpolation, equation 4).
- ``ntk``   base b s^(d/(d-2)): the slowest pair is slowed by s, the fastest not at all (Peng et al. 2023, YaRN: Efficient
  Context Window Extension of Large Language Models, section 3.1). With s on auto this is the "dynamic" form (section
  3.3). A fixed factor f in dynamic NTK as one common library has it is not this: it uses f n / L - (f - 1) for s.
- ``yarn``  (1 - g) theta_t / s + g theta_t, where g rises from 0 to 1 as the turns L theta_t / 2 pi that the pair makes
  over the trained length rise from alpha to beta; queries and keys are multiplied by .1 ln s + 1 (ibid., equations 17
  to 22 and section 3.4). The ramp is linear in turns, as in the paper; one common library has it linear in t.
"""

import math
from dataclasses import dataclass

from torch import Tensor

from engine.encodings.base.layer import PositionalEncoding, Positions
from engine.encodings.base.rotation import Rotation, angle_matrices, angles, geometric_frequencies, rotated
from engine.encodings.rope import RopeSettings
from engine.settings.base import BaseConfig


@dataclass(frozen=True)
class ScaledRotation(Rotation):
    trained: int  # L, the longest length read in training
    settings: RopeSettings

    def scale(self, length: int) -> float:
        """s for a sequence that ends at this length; 1 within the trained length."""
        if self.settings.rope_scaling == "none" or length <= self.trained:
            return 1.0
        return self.settings.rope_scale_factor or length / self.trained

    def frequencies(self, length: int) -> Tensor:
        s, geometric = self.scale(length), geometric_frequencies(self.d_head, self.base)
        if s == 1.0:
            return geometric
        if self.settings.rope_scaling == "pi":
            return geometric / s
        if self.settings.rope_scaling == "ntk":
            return geometric_frequencies(self.d_head, self.base * s ** (self.d_head / (self.d_head - 2)))
        unscaled = ramp(geometric * self.trained / (2 * math.pi), self.settings.yarn_alpha, self.settings.yarn_beta)
        return (1 - unscaled) * geometric / s + unscaled * geometric

    def temperature(self, length: int) -> float:
        """1 / sqrt(t) in YaRN's terms; 1 for the other scalings."""
        return 0.1 * math.log(self.scale(length)) + 1 if self.settings.rope_scaling == "yarn" else 1.0


def ramp(rotations: Tensor, alpha: float, beta: float) -> Tensor:
    """0 up to alpha, 1 from beta on, linear between."""
    return ((rotations - alpha) / (beta - alpha)).clamp(0, 1)


class Rope(PositionalEncoding):
    def __init__(self, config: BaseConfig, settings: RopeSettings, *, max_positions: int, causal: bool) -> None:
        super().__init__()
        self.rotation = ScaledRotation(config.head_width, settings.rope_base, max_positions, settings)
        self.layout = settings.rope_layout

    def rotate(self, t: Tensor, positions: Positions) -> Tensor:
        return rotated(t, positions, self.rotation, self.layout)

    def matrices(self, length: int) -> dict[str, Tensor]:
        return angle_matrices(angles(range(length), self.rotation))
