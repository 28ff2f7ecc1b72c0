from engine.encodings.base import EncodingSettings, EncodingSpec


class NopeSettings(EncodingSettings):
    pass


SPEC = EncodingSpec(
    name="nope", label="None (NoPE)", acts_on="nowhere", settings=NopeSettings, equation=r"h_i^{(0)} = E_{x_i}",
    source="Kazemnejad et al. 2023, The Impact of Positional Encoding on Length Generalization", url="https://arxiv.org/abs/2305.19466",
    layer="engine.encodings.nope.layer:NoEncoding", color="#97A7B4", relative=True, numbered=False,
)  # fmt: skip
