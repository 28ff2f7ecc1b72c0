"""Published sizes of well-known decoders. :mod:`engine.estimate.at_scale` computes their memory."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Published:
    """The sizes that determine a decoder's memory."""

    name: str
    label: str
    source: str
    layers: int
    width: int
    heads: int
    kv_heads: int
    """The number of heads of keys and values, each shared by ``heads / kv_heads`` query heads (Ainslie et al. 2023, GQA)."""
    mlp_width: int
    vocabulary: int
    context: int
    """The longest sequence it was trained on, in tokens."""
    gated: bool
    """Whether the block is Llama's: RMSNorm, rotations, a gated MLP (Shazeer 2020), no biases, no dropout, an untied head.
    Otherwise it is GPT-2's: LayerNorm, a learned table, biases, GELU, dropout, the head tied to the embedding."""
    parameters: int
    """The published count, or the count of the published weights."""

    @property
    def kv_width(self) -> int:
        return self.width * self.kv_heads // self.heads


GPT2 = "Radford et al. 2019, Language Models are Unsupervised Multitask Learners, table 2; weights as released"
LLAMA2 = "Touvron et al. 2023, Llama 2: Open Foundation and Fine-Tuned Chat Models; weights as released"
LLAMA3 = "Grattafiori et al. 2024, The Llama 3 Herd of Models, table 3; weights as released in April 2024"


def _gpt2(size: str, layers: int, width: int, heads: int, parameters: int) -> Published:
    return Published(
        f"gpt2-{size.lower()}", f"GPT-2 {size}", GPT2, layers, width, heads, heads, 4 * width, 50_257, 1024,
        gated=False, parameters=parameters,
    )  # fmt: skip


WELL_KNOWN: dict[str, Published] = {
    row.name: row
    for row in (
        _gpt2("124M", 12, 768, 12, 124_439_808),
        _gpt2("355M", 24, 1024, 16, 354_823_168),
        _gpt2("774M", 36, 1280, 20, 774_030_080),
        _gpt2("1.5B", 48, 1600, 25, 1_557_611_200),
        Published(
            "llama2-7b", "Llama 2 7B", LLAMA2, 32, 4096, 32, 32, 11_008, 32_000, 4096,
            gated=True, parameters=6_738_415_616,
        ),
        Published(
            "llama3-8b", "Llama 3 8B", LLAMA3, 32, 4096, 32, 8, 14_336, 128_256, 8192,
            gated=True, parameters=8_030_261_248,
        ),
        Published(
            "llama3-70b", "Llama 3 70B", LLAMA3, 80, 8192, 64, 8, 28_672, 128_256, 8192,
            gated=True, parameters=70_553_706_496,
        ),
    )
}  # fmt: skip
