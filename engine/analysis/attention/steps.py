"""One query of one head, step by step, from the model's tensors: q and k, their product, the encoding's part, the scale, the mask,
the softmax, the weighted values and the output projection. Source: Vaswani et al. 2017, Attention Is All You Need, equation 1 and
section 3.2.2."""

import numpy as np
import torch
from torch import Tensor

from engine.analysis.attention.ablation import ablated
from engine.analysis.attention.jobs import QuerySteps
from engine.analysis.attention.model import (
    attention_at,
    blocked_in,
    encoding_at,
    model_of,
    positions_at,
    run_with_cache,
    sample_of,
    tokens_at,
)
from engine.analysis.attention.parts import Part
from engine.analysis.attention.requests import ModelRequest, SampleRequest, tap_name
from engine.config.run_config import RunConfig
from engine.model.transformer import Transformer
from engine.training.data import Batch
from engine.training.snapshot import answer_namer, array


def steps(request: ModelRequest, sample: SampleRequest, part: Part, query: int) -> QuerySteps:
    """The values between one query and its output. Raises ValueError if the sample has no such query.

    By name, [key] each: ``product`` q . k before any rotation, ``turned`` after it, ``scaled`` with the scale, ``bias`` of the
    encoding, ``score`` the sum of these, ``blocked``, ``weight``; ``by_encoding`` is the part of the score that the encoding made,
    wherever it acts. ``turned_q`` [d_head], ``turned_k``, ``v`` and ``weighted`` [key, d_head]; ``value_term``, ``gate`` and
    ``mixed`` [d_head]; ``projected`` [head, d_model] is each head's output, and their sum with ``bias_out`` [d_model] is ``out``
    [d_model]. ``pattern`` [query, key] is the head's whole pattern. ``gap``: the largest difference between these steps put
    together and the model's tensors.
    """
    config = request.config.replace(**dict(request.changes)) if request.changes else request.config
    model, batch = model_of(request), sample_of(config, sample)
    queries, keys = tokens_at(config, batch, part.which)
    if not 0 <= query < len(queries):
        raise ValueError(f"query is {query}; it must be a whole number from 0 to {len(queries) - 1}.")
    logits, cache = run_with_cache(model, batch)
    attention, encoding = attention_at(model, part), encoding_at(model, part)
    name = tap_name(config, part.which, part.layer)
    at, head = positions_at(batch, part), part.head
    q, k, v = (cache[f"{name}.{tap}"] for tap in "qkv")  # [1, head, length, d_head]
    scores, pattern, out = (cache[f"{name}.{tap}"] for tap in ("scores", "pattern", "out"))
    with torch.no_grad():
        turned_q, turned_k = encoding.rotate(q, at), encoding.rotate_keys(k, at)
        prepared = attention.prepare(turned_q, turned_k)
        scaled = attention.pattern.scores(*prepared)  # [1, head, query, key]
        score_bias = encoding.score_bias(*prepared, at, at)
        bias = torch.zeros_like(scores) if score_bias is None else score_bias.expand_as(scores)
        term = encoding.value_term(pattern, at, at)
        read = pattern @ v if term is None else pattern @ v + term  # [1, head, query, d_head]
        gate = cache.get(f"{name}.gate")
        mixed = read if gate is None else read * gate
        weight = attention.out.weight.view(out.size(-1), attention.n_heads, -1)  # [d_model, head, d_head]
        projected = torch.einsum("hd,mhd->hm", mixed[0, :, query], weight)  # [head, d_model]
        without_encoding = _scores_without_encoding(model, batch, config, part)
    blocked = blocked_in(scores)
    score = (scaled + bias).masked_fill(blocked, 0.0)
    gap = max(
        _largest_difference(score, scores.masked_fill(blocked, 0.0)),
        _largest_difference(projected.sum(0) + attention.out.bias, out[0, query]),
    )

    def row(t: Tensor) -> np.ndarray:
        return array(t[0, head, query])

    asks = part.which != "encoder"  # the encoder of an encoder-decoder predicts nothing
    answer = answer_namer(config)
    return {
        "keys": keys, "position": at[query], "turned_q": row(turned_q), "turned_k": array(turned_k[0, head]), "v": array(v[0, head]),
        "product": row(q @ k.mT), "turned": row(turned_q @ turned_k.mT), "scaled": row(scaled), "bias": row(bias),
        "by_encoding": row(scaled + bias - without_encoding), "score": row(scaled + bias), "blocked": row(blocked) > 0,
        "weight": row(pattern), "pattern": array(pattern[0, head]),
        "weighted": array(pattern[0, head, query, :, None] * v[0, head]),
        "value_term": None if term is None else row(term), "gate": None if gate is None else row(gate), "mixed": row(mixed),
        "projected": array(projected), "bias_out": array(attention.out.bias), "out": array(out[0, query]), "gap": gap,
        "rotates": part.which != "cross" and config.encoding.acts_on == "rotation",
        "predicted": answer(int(logits[0, query].argmax())) if asks else "",
        "target": answer(int(batch.targets[0, query])) if asks and batch.targets[0, query] >= 0 else "",
        "d_head": q.size(-1), "d_model": out.size(-1),
    }  # fmt: skip


def _scores_without_encoding(model: Transformer, batch: Batch, config: RunConfig, part: Part) -> Tensor:
    """The scores without the encoding and all else equal, [1, head, query, key].

    An encoding that acts on scores, or rotates q and k, is left out of this layer alone. One that is added to the embedding is left
    out there, and every layer up to this one then reads other numbers.
    """
    stack = ablated(model, [Part("encoding")]) if config.encoding.acts_on == "embedding" else model
    cache = run_with_cache(stack, batch)[1]
    name, attention = tap_name(config, part.which, part.layer), attention_at(model, part)
    return attention.pattern.scores(*attention.prepare(cache[f"{name}.q"], cache[f"{name}.k"]))


def _largest_difference(a: Tensor, b: Tensor) -> float:
    return (a.float() - b.float()).abs().max().item()
