"""A transformer from first principles: every part built, tested against PyTorch's own."""

# %% [markdown]
# # A transformer from first principles
#
# We build a transformer piece by piece: positions, attention, mask, heads, block, model. A test compares each
# piece with PyTorch's own function. At the end, it reverses a sequence and writes like Shakespeare.

# %% [markdown]
# ## Tools
#
# Shapes are written in brackets: `[batch, head, query, key]` is a tensor with four axes.

# %%
import fnmatch
import math
import os
import re
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import plotly.graph_objects as go
import torch
import torch.nn.functional as F
from torch import Tensor, nn

torch.set_num_threads(1)
torch.manual_seed(0)
print("PyTorch", torch.__version__)


def picture(matrix: Tensor, title: str, x: str, y: str, **more: object) -> go.Figure:
    """A matrix [row, column] with row 0 on top."""
    figure = go.Figure(go.Heatmap(z=matrix.detach().tolist(), **more))
    figure.update_yaxes(autorange="reversed")
    return figure.update_layout(title=title, xaxis_title=x, yaxis_title=y)


# %% [markdown]
# ## Positions: the sinusoid matrix
#
# Attention does not see the order: if the tokens are shuffled, the outputs are shuffled in the same way. So each
# position gets a vector, which is added to that of its token. Vaswani et al. (2017, section 3.5) use waves of
# many lengths:
#
# $$
# P_{t,2i} = \sin(\omega_i t), \qquad P_{t,2i+1} = \cos(\omega_i t), \qquad \omega_i = 10000^{-2i/d}
# $$
#
# Fast waves on the left tell neighbours apart; slow ones on the right tell the beginning from the end.


# %%
def sinusoid(length: int, width: int) -> Tensor:
    """[position, feature], sine and cosine interleaved."""
    frequencies = 10_000 ** (-torch.arange(0, width, 2) / width)  # [feature / 2]
    angles = torch.arange(length)[:, None] * frequencies  # [position, feature / 2]
    waves = torch.stack([angles.sin(), angles.cos()], dim=-1)  # [position, feature / 2, 2]
    return waves.flatten(1)  # [position, feature]


table = sinusoid(64, 32)
print("[position, feature] =", tuple(table.shape))
picture(table, "The sinusoid matrix", "feature", "position", colorbar_title="value")

# %%
# Test: All rows have the same length, and the product of two rows depends only on their distance.
gram = table @ table.T  # [position, position]
torch.testing.assert_close(table.norm(dim=-1), torch.full((64,), math.sqrt(32 / 2)))
for distance in range(64):
    diagonal = gram.diagonal(distance)
    torch.testing.assert_close(diagonal, diagonal[0].expand_as(diagonal), atol=1e-4, rtol=0)

# %%
# Test: Moving on by k positions is one rotation, the same one from everywhere.
k = 5
angles = k * 10_000 ** (-torch.arange(0, 32, 2) / 32)  # [feature / 2]
sines, cosines = table[:-k, 0::2], table[:-k, 1::2]  # [position, feature / 2]
rotated = torch.stack(
    [
        sines * angles.cos() + cosines * angles.sin(),
        cosines * angles.cos() - sines * angles.sin(),
    ],
    dim=-1,
)
torch.testing.assert_close(rotated.flatten(1), table[k:], atol=1e-5, rtol=0)

# %% [markdown]
# ## Attention, given Q, K and V
#
# Each query is compared with every key; the softmax turns the scores into weights that sum to one; with them
# the values are averaged:
#
# $$
# \operatorname{attention}(Q, K, V) = \operatorname{softmax}\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V
# $$
#
# **Shapes.** $Q$ is `[query, d_k]`, $K$ is `[key, d_k]`: they are multiplied, so they share $d_k$. $V$ is
# `[key, d_v]`: as many rows as $K$, of any width. The number of queries is free.


# %%
def scaled_dot(q: Tensor, k: Tensor) -> Tensor:
    """q [..., query, d_k], k [..., key, d_k] -> scores [..., query, key]"""
    return q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])


Score = Callable[[Tensor, Tensor], Tensor]


def attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, score: Score = scaled_dot
) -> tuple[Tensor, Tensor]:
    """Values [..., query, d_v] and pattern [..., query, key].

    Where the mask is False, a query does not see a key.
    """
    scores = score(q, k)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    pattern = scores.softmax(dim=-1)
    return pattern @ v, pattern


q, k_, v = torch.randn(2, 5, 8), torch.randn(2, 7, 8), torch.randn(2, 7, 3)
out, pattern = attention(q, k_, v)
print("Q", tuple(q.shape), " K", tuple(k_.shape), " V", tuple(v.shape))
print("pattern", tuple(pattern.shape), " output", tuple(out.shape))

# %%
# Test: It agrees with torch's scaled_dot_product_attention, and each row of the pattern sums to one.
torch.testing.assert_close(
    out, F.scaled_dot_product_attention(q, k_, v), atol=1e-5, rtol=1e-5
)
torch.testing.assert_close(pattern.sum(-1), torch.ones(2, 5))

# %% [markdown]
# ## Why divide by the root of d_k
#
# The product of two random vectors of width $d_k$ scatters by $\sqrt{d_k}$. Large scores make the softmax
# pick one key and lose its gradient. Divided by the root, the scores scatter by one at any width.

# %%
widths = [4, 16, 64, 256, 1024]
plain_std, scaled_std = [], []
for width in widths:
    a, b = torch.randn(200, width), torch.randn(200, width)
    plain_std.append((a @ b.T).std().item())
    scaled_std.append(scaled_dot(a, b).std().item())
figure = go.Figure()
figure.add_scatter(x=widths, y=plain_std, name="as it is", mode="lines+markers")
figure.add_scatter(x=widths, y=scaled_std, name="divided by the root", mode="lines+markers")
figure.update_xaxes(type="log")
figure.update_yaxes(type="log")
figure.update_layout(
    title="Scatter of the scores", xaxis_title="width d_k", yaxis_title="standard deviation"
)

# %%
# Test: Unscaled, the scatter grows as the root of the width; scaled, it stays one.
for width, std, scaled in zip(widths, plain_std, scaled_std, strict=True):
    assert abs(std / math.sqrt(width) - 1) < 0.1
    assert abs(scaled - 1) < 0.1

# %% [markdown]
# ## What else could score
#
# A score has to turn a query and a key into one number; the dot product is only the cheapest. Bahdanau et al.
# (2015) add the two, pass the sum through $\tanh$ and weigh it: an *additive* score has weights of its own,
# and $Q$ and $K$ need not even have the same width. A *cosine* looks at directions alone, so it needs a
# factor to become sharp.


# %%
class Additive(nn.Module):
    def __init__(self, d_query: int, d_key: int, hidden: int) -> None:
        super().__init__()
        self.query, self.key = (
            nn.Linear(d_query, hidden, bias=False),
            nn.Linear(d_key, hidden, bias=False),
        )
        self.weigh = nn.Linear(hidden, 1, bias=False)

    def forward(self, q: Tensor, k: Tensor) -> Tensor:
        """q [..., query, d_query], k [..., key, d_key] -> [..., query, key]"""
        pairs = (
            self.query(q)[..., :, None, :] + self.key(k)[..., None, :, :]
        )  # [..., query, key, hidden]
        return self.weigh(pairs.tanh()).squeeze(-1)


def cosine(q: Tensor, k: Tensor) -> Tensor:
    """As scaled_dot, but of the directions alone; 10 is the sharpness."""
    return 10 * F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1)


wide_q = torch.randn(2, 5, 12)  # a width that no dot product with K would allow
for name, query, score in (
    ("dot", q, scaled_dot),
    ("additive", wide_q, Additive(12, 8, 16)),
    ("cosine", q, cosine),
):
    out, pattern = attention(query, k_, v, score=score)
    weights = (
        sum(part.numel() for part in score.parameters())
        if isinstance(score, nn.Module)
        else 0
    )
    print(
        f"{name}: Q {tuple(query.shape)}, pattern {tuple(pattern.shape)}, {weights} weights"
    )

# %%
# Test: Each of them gives weights that sum to one; the cosine does not change when the query grows.
for query, score in ((q, scaled_dot), (wide_q, Additive(12, 8, 16)), (q, cosine)):
    torch.testing.assert_close(
        attention(query, k_, v, score=score)[1].sum(-1), torch.ones(2, 5)
    )
torch.testing.assert_close(cosine(100 * q, k_), cosine(q, k_))

# %% [markdown]
# ## The mask
#
# A model that predicts the next token must not see it. The causal mask is a lower triangle: query $i$ sees
# the keys $0 \dots i$. The rest is set to $-\infty$ before the softmax, so that it gets weight zero.


# %%
def causal_mask(length: int) -> Tensor:
    """[query, key], True where a query may look."""
    return torch.ones(length, length, dtype=torch.bool).tril()


x = torch.randn(1, 8, 16)
seen, pattern = attention(x, x, x, causal_mask(8))
picture(
    pattern[0],
    "Pattern with a causal mask",
    "key",
    "query",
    zmin=0,
    zmax=1,
    colorbar_title="weight",
)

# %%
# Test: It agrees with torch's is_causal=True.
torch.testing.assert_close(
    seen, F.scaled_dot_product_attention(x, x, x, is_causal=True), atol=1e-5, rtol=1e-5
)

# %%
# Test: Changing a later token changes nothing before it, to the last bit.
changed = x.clone()
changed[:, 5] += 1.0
after, _ = attention(changed, changed, changed, causal_mask(8))
assert torch.equal(after[:, :5], seen[:, :5])
assert not torch.equal(after[:, 5:], seen[:, 5:])

# %% [markdown]
# ## Several heads
#
# One pattern is one average. Several heads look at several places at once: $Q$, $K$, $V$ are made by dense
# layers, split into heads, each head attends, and a fourth dense layer mixes the heads. The usual choice is
# $d_{head} = d_{model} / heads$, which keeps the cost the same. It is a choice: the last layer brings any
# $heads \cdot d_{head}$ back to $d_{model}$.


# %%
class MultiHead(nn.Module):
    def __init__(self, d_model: int, n_heads: int, d_head: int | None = None) -> None:
        super().__init__()
        self.n_heads = n_heads
        inner = n_heads * (d_head or d_model // n_heads)
        self.q, self.k, self.v = (nn.Linear(d_model, inner) for _ in range(3))
        self.out = nn.Linear(inner, d_model)
        self.score: Score = scaled_dot
        self.pattern = torch.empty(0)  # the last one, to look at: [batch, head, query, key]

    def split(self, x: Tensor) -> Tensor:
        """[batch, position, head * d_head] -> [batch, head, position, d_head]"""
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """x [batch, position, d_model] -> the same shape"""
        q, k, v = self.split(self.q(x)), self.split(self.k(x)), self.split(self.v(x))
        values, self.pattern = attention(q, k, v, mask, self.score)
        joined = values.transpose(1, 2).flatten(
            2
        )  # [batch, head, position, d_head] -> [batch, position, head * d_head]
        return self.out(joined)


x = torch.randn(3, 10, 32)
for n_heads, d_head in ((1, None), (4, None), (4, 32), (5, 3)):
    heads = MultiHead(32, n_heads, d_head)
    split = heads.split(heads.q(x))
    n_weights = sum(part.numel() for part in heads.parameters())
    shape, total = tuple(split.shape), f"{n_weights:,} parameters"
    print(
        f"{n_heads} heads: Q, K, V {shape} -> output {tuple(heads(x, None).shape)}, {total}"
    )

# %%
# Test: With the same weights it agrees with torch's nn.MultiheadAttention, outputs and patterns.
ours, theirs = MultiHead(32, 4), nn.MultiheadAttention(32, 4, batch_first=True)
with torch.no_grad():
    theirs.in_proj_weight.copy_(torch.cat([ours.q.weight, ours.k.weight, ours.v.weight]))
    theirs.in_proj_bias.copy_(torch.cat([ours.q.bias, ours.k.bias, ours.v.bias]))
    theirs.out_proj.weight.copy_(ours.out.weight)
    theirs.out_proj.bias.copy_(ours.out.bias)
    mask = causal_mask(10)
    expected, expected_pattern = theirs(
        x, x, x, attn_mask=~mask, average_attn_weights=False
    )
    torch.testing.assert_close(ours(x, mask), expected, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(ours.pattern, expected_pattern, atol=1e-5, rtol=1e-5)

# %% [markdown]
# ## The block
#
# Attention moves information between positions; two dense layers with a ReLU in between then work on each
# position alone. Each of the two is a *branch*: normalise, compute, add to what was there (the skip
# connection).
#
# **How many dense layers are in a block?** Six: one each for Q, K and V, one after the heads, two in the
# feed-forward part. With a hidden width of $4d$ they have $12 d^2$ weights; biases and the two norms make it
# $12 d^2 + 13 d$. We count.


# %%
class Block(nn.Module):
    def __init__(self, d_model: int, n_heads: int, d_ff: int, skips: bool = True) -> None:
        super().__init__()
        self.attention = MultiHead(d_model, n_heads)
        self.mlp = nn.Sequential(
            nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model)
        )
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.skips = skips

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """x [batch, position, d_model] -> the same shape"""
        x = self.skips * x + self.attention(self.norm1(x), mask)
        return self.skips * x + self.mlp(self.norm2(x))


block = Block(32, 4, 4 * 32)
dense = [name for name, part in block.named_modules() if isinstance(part, nn.Linear)]
print(len(dense), "dense layers:", ", ".join(dense))
print(f"{sum(weights.numel() for weights in block.parameters()):,} parameters")

# %%
# Test: There are six dense layers and 12 d² + 13 d parameters, at any width.
for d in (16, 32, 96):
    parts = list(Block(d, 4, 4 * d).modules())
    assert sum(isinstance(part, nn.Linear) for part in parts) == 6
    assert sum(weights.numel() for weights in parts[0].parameters()) == 12 * d**2 + 13 * d

# %%
# Test: With the same weights it agrees with torch's nn.TransformerEncoderLayer.
layer = nn.TransformerEncoderLayer(
    32, 4, 128, dropout=0.0, batch_first=True, norm_first=True
)
renamed = {
    "self_attn.in_proj_weight": torch.cat(
        [getattr(block.attention, name).weight for name in "qkv"]
    ),
    "self_attn.in_proj_bias": torch.cat(
        [getattr(block.attention, name).bias for name in "qkv"]
    ),
    "self_attn.out_proj.weight": block.attention.out.weight,
    "self_attn.out_proj.bias": block.attention.out.bias,
    "linear1.weight": block.mlp[0].weight,
    "linear1.bias": block.mlp[0].bias,
    "linear2.weight": block.mlp[2].weight,
    "linear2.bias": block.mlp[2].bias,
    "norm1.weight": block.norm1.weight,
    "norm1.bias": block.norm1.bias,
    "norm2.weight": block.norm2.weight,
    "norm2.bias": block.norm2.bias,
}
layer.load_state_dict(renamed)
torch.testing.assert_close(block(x, mask), layer(x, src_mask=~mask), atol=1e-5, rtol=1e-5)

# %% [markdown]
# ## Why skips
#
# Stack twelve blocks, send one gradient back, and measure it in each block, with skips and without. It is often
# said that without skips the gradient vanishes before it reaches the first blocks. Look closely: the norms in the
# blocks keep the gradient of V large. The gradient of Q does vanish, so the model cannot learn *where to look*.
# The second picture shows why: without skips, the vectors of all positions point in one direction (Dong et al.,
# 2021). If all keys are equal, a query cannot prefer one of them.

# %%
DEPTH = 12


def gradients(skips: bool) -> tuple[list[float], list[float], list[float]]:
    """Gradient norms of W_q and W_v, and the mean cosine of two positions, by block."""
    torch.manual_seed(0)
    blocks = [Block(32, 4, 64, skips) for _ in range(DEPTH)]
    x, alike = torch.randn(8, 16, 32), []
    for block in blocks:
        x = block(x, None)
        directions = F.normalize(x, dim=-1)
        alike.append((directions @ directions.transpose(1, 2)).mean().item())
    (F.layer_norm(x, (32,)) * torch.randn(8, 16, 32)).sum().backward()
    of_q = [block.attention.q.weight.grad.norm().item() for block in blocks]
    of_v = [block.attention.v.weight.grad.norm().item() for block in blocks]
    return of_q, of_v, alike


with_skips, without_skips = gradients(True), gradients(False)
for name, (of_q, of_v, alike) in (("with skips", with_skips), ("without", without_skips)):
    print(
        f"{name}: block 12, W_q {of_q[-1]:.1e}, W_v {of_v[-1]:.1e}; cosine {alike[-1]:.4f}"
    )

# %%
numbers = list(range(1, DEPTH + 1))
figure = go.Figure()
for name, (of_q, of_v, _) in (("with skips", with_skips), ("without skips", without_skips)):
    figure.add_scatter(x=numbers, y=of_q, name=f"W_q {name}", mode="lines+markers")
    figure.add_scatter(
        x=numbers, y=of_v, name=f"W_v {name}", mode="lines+markers", line={"dash": "dot"}
    )
figure.update_yaxes(type="log", exponentformat="power")
figure.update_layout(
    title="Gradient norms at the start", xaxis_title="block", yaxis_title="gradient norm"
)

# %%
figure = go.Figure()
figure.add_scatter(x=numbers, y=with_skips[2], name="with skips", mode="lines+markers")
figure.add_scatter(
    x=numbers, y=without_skips[2], name="without skips", mode="lines+markers"
)
figure.update_layout(
    title="How alike the positions become", xaxis_title="block", yaxis_title="mean cosine"
)

# %%
# Test: Without skips the last W_q has less than a thousandth of its gradient left, W_v more than a tenth.
assert without_skips[0][-1] < 1e-3 * with_skips[0][-1]
assert without_skips[1][-1] > 0.1 * with_skips[1][-1]
assert without_skips[2][-1] > 0.99

# %% [markdown]
# ## The whole model
#
# Tokens become vectors, positions are added, blocks follow, a last norm, and a dense layer that gives one
# number for each token of the vocabulary.


# %%
class Transformer(nn.Module):
    def __init__(
        self,
        vocabulary: int,
        length: int,
        d_model: int,
        n_layers: int,
        n_heads: int,
        learned: bool = False,
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, d_model)
        self.table = nn.Parameter(
            torch.randn(length, d_model) if learned else sinusoid(length, d_model), learned
        )
        self.blocks = nn.ModuleList(
            [Block(d_model, n_heads, 2 * d_model) for _ in range(n_layers)]
        )
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocabulary)

    def forward(self, tokens: Tensor) -> Tensor:
        """tokens [batch, position] -> logits [batch, position, vocabulary]"""
        length = tokens.shape[1]
        x = self.embedding(tokens) + self.table[:length]
        for block in self.blocks:
            x = block(x, causal_mask(length))
        return self.head(self.norm(x))


model = Transformer(vocabulary=10, length=12, d_model=32, n_layers=2, n_heads=4)
tokens = torch.randint(0, 10, (4, 12))
logits = model(tokens)
print("tokens", tuple(tokens.shape), "-> logits", tuple(logits.shape))
trained = [weights for weights in model.parameters() if weights.requires_grad]
print(f"{sum(weights.numel() for weights in trained):,} parameters")

# %%
# Test: The whole model is causal: the answers before a changed token stay as they are.
other = tokens.clone()
other[:, 7] = (other[:, 7] + 1) % 10
torch.testing.assert_close(model(other)[:, :7], logits[:, :7])
assert not torch.allclose(model(other)[:, 7:], logits[:, 7:])

# %%
# Test: Untrained, it is no better than guessing: a loss of ln 10, or not much below.
guessing = math.log(10)
loss = F.cross_entropy(logits.flatten(0, 1), torch.randint(0, 10, (48,))).item()
print(f"loss {loss:.2f}, guessing {guessing:.2f}")
assert loss > 0.85 * guessing

# %% [markdown]
# ## How does it differ from an RNN?
#
# A recurrent network reads one token after another: state $t$ needs state $t - 1$. Attention reads all at
# once. We measure it in the graph of the computation itself: the longest chain of operations that have to
# wait for each other.


# %%
def recur(x: Tensor, cell: nn.RNNCell) -> Tensor:
    """x [batch, position, d_model] -> states, the same shape"""
    state, states = torch.zeros(x.shape[0], x.shape[2]), []
    for t in range(x.shape[1]):
        state = cell(x[:, t], state)
        states.append(state)
    return torch.stack(states, dim=1)


def longest_chain(result: Tensor) -> int:
    """So many operations have to wait for each other, from the inputs to the result."""
    depth: dict[object, int] = {}
    stack: list[object] = [result.grad_fn]
    while stack:
        node = stack[-1]
        before = [child for child, _ in node.next_functions if child is not None]
        waiting = [child for child in before if child not in depth]
        if waiting:
            stack.extend(waiting)
        else:
            depth[stack.pop()] = 1 + max((depth[child] for child in before), default=0)
    return depth[result.grad_fn]


lengths = [16, 32, 64, 128, 256]
cell, heads = nn.RNNCell(32, 32), MultiHead(32, 4)
chains = {"RNN": list[int](), "attention": list[int]()}
for length in lengths:
    x = torch.randn(4, length, 32)
    chains["RNN"].append(longest_chain(recur(x, cell)))
    chains["attention"].append(longest_chain(heads(x, causal_mask(length))))
for name, chain in chains.items():
    print(
        f"{name}: "
        + ", ".join(f"{n} at {length}" for n, length in zip(chain, lengths, strict=True))
    )

# %%
# Test: The RNN's chain grows by the same amount with every token; attention's has one length.
growth = {
    (b - a) / (m - n)
    for a, b, n, m in zip(
        chains["RNN"], chains["RNN"][1:], lengths, lengths[1:], strict=False
    )
}
assert len(growth) == 1
assert growth.pop() >= 1
assert len(set(chains["attention"])) == 1

# %% [markdown]
# ## And in time?
#
# Forward and backward, relative to the shortest length, the fastest of several tries. The RNN does the same
# for each token, so its time grows *linearly* with the length; attention compares every pair, so in the long
# run it grows *quadratically*. On a machine with one core the short chain does not help: the gain of
# attention needs hardware that computes many things at once.


# %%
def fastest(compute: Callable[[], Tensor], tries: int = 5) -> float:
    """Seconds for forward and backward, the shortest of several tries."""
    compute().sum().backward()  # the first time there is memory to be found
    seconds = []
    for _ in range(tries):
        began = time.perf_counter()
        compute().sum().backward()
        seconds.append(time.perf_counter() - began)
    return min(seconds)


longer = [32, 64, 128, 256, 512]
seconds: dict[str, list[float]] = {"RNN": [], "attention": []}
for length in longer:
    x, mask = torch.randn(2, length, 32), causal_mask(length)
    seconds["RNN"].append(fastest(lambda x=x: recur(x, cell)))
    seconds["attention"].append(fastest(lambda x=x, mask=mask: heads(x, mask)))
ratios = {name: [one / of[0] for one in of] for name, of in seconds.items()}
for name, ratio in ratios.items():
    doubling = ratio[-1] / ratio[-2]
    print(
        f"{name}: 16 times as long takes {ratio[-1]:.0f} times, the last doubling {doubling:.1f}"
    )

# %%
figure = go.Figure()
for name, ratio in ratios.items():
    figure.add_scatter(x=longer, y=ratio, name=name, mode="lines+markers")
figure.add_scatter(
    x=longer, y=[n / 32 for n in longer], name="linear", line={"dash": "dot"}
)
figure.add_scatter(
    x=longer, y=[(n / 32) ** 2 for n in longer], name="quadratic", line={"dash": "dash"}
)
figure.update_xaxes(type="log")
figure.update_yaxes(type="log")
figure.update_layout(
    title="Time of a step",
    xaxis_title="length (tokens)",
    yaxis_title="time / time at 32 tokens",
)

# %% [markdown]
# ## Reverse a sequence
#
# The model reads $x_1 \dots x_6\, x_6 \dots x_1$ and predicts each next token. The first half is random, so no
# model can predict it. The second half is the first half backwards, so a query that reads the mirrored position
# can predict it. A correct model is at chance in the first half and perfect in the second. *Above chance in the
# first half means that the mask leaks.* A start token comes first, so that the first symbol is predicted too.

# %%
HALF, SYMBOLS, REVERSE_STEPS = 6, 10, 150


def reversals(batch: int) -> Tensor:
    """[batch, 2 * HALF + 1]: a first token, a random sequence, the same backwards."""
    first = torch.randint(0, SYMBOLS, (batch, HALF))
    return torch.cat([torch.full((batch, 1), SYMBOLS), first, first.flip(1)], dim=1)


def halves(model: nn.Module) -> tuple[float, float]:
    """Accuracy in the first half and in the second, on 500 new sequences."""
    tokens = reversals(500)
    with torch.no_grad():
        right = (model(tokens[:, :-1])[..., :SYMBOLS].argmax(-1) == tokens[:, 1:]).float()
    return right[:, :HALF].mean().item(), right[:, HALF:].mean().item()


def learn_to_reverse(
    score: Score = scaled_dot, seed: int = 1
) -> tuple[Transformer, list[tuple[int, float, float]]]:
    """One block, one head. The model, and (step, first half, second half) along the way."""
    torch.manual_seed(seed)
    model = Transformer(SYMBOLS + 1, 2 * HALF, 32, n_layers=1, n_heads=1, learned=True)
    model.blocks[0].attention.score = score
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    accuracies = [(0, *halves(model))]
    for step in range(1, REVERSE_STEPS + 1):
        tokens = reversals(32)
        loss = F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 10 == 0:
            accuracies.append((step, *halves(model)))
    return model, accuracies


reverser, accuracies = learn_to_reverse()
steps, first_half, second_half = zip(*accuracies, strict=True)
print(
    f"first half {first_half[-1]:.3f}, second half {second_half[-1]:.3f}, chance {1 / SYMBOLS}"
)

# %%
figure = go.Figure()
figure.add_scatter(x=steps, y=second_half, name="second half")
figure.add_scatter(x=steps, y=first_half, name="first half")
figure.add_hline(
    y=1 / SYMBOLS, line_dash="dash", label={"text": "chance", "textposition": "end"}
)
figure.update_yaxes(range=[0, 1.05])
figure.update_layout(
    title="Reversing: accuracy on new sequences", xaxis_title="step", yaxis_title="accuracy"
)

# %%
# Test: The second half is right, and the first is at chance, as it must be.
assert second_half[-1] > 0.99
assert abs(first_half[-1] - 1 / SYMBOLS) < 0.03

# %% [markdown]
# ## Where it looks
#
# Rows are queries, columns are keys. In the second half each query looks at the mirrored position: a diagonal
# that runs the other way.

# %%
example = reversals(1)
with torch.no_grad():
    predicted = reverser(example[:, :-1]).argmax(-1)
print("given:    ", *example[0, 1 : HALF + 1].tolist())
print("answered: ", *predicted[0, HALF:].tolist())
looks = reverser.blocks[0].attention.pattern[0, 0]
picture(
    looks,
    "The pattern that reverses",
    "key",
    "query",
    zmin=0,
    zmax=1,
    colorbar_title="weight",
)

# %%
# Test: In the second half every query gives the largest weight to the position that holds its answer.
queries = torch.arange(HALF, 2 * HALF)
assert looks[queries].argmax(-1).tolist() == (2 * HALF - queries).tolist()

# %% [markdown]
# ## Do the other scores reverse as well?
#
# Nothing in the task asks for a dot product. We train the same model with the additive and with the cosine
# score, three seeds each: what one seed does may be luck.

# %%
figure, seeds = go.Figure(), (1, 2, 3)
for name, score in (("scaled dot", scaled_dot), ("additive", None), ("cosine", cosine)):
    ends = []
    for seed in seeds:
        torch.manual_seed(seed)
        _, others = learn_to_reverse(score or Additive(32, 32, 32), seed)
        ends.append(others[-1][2])
        x, y = [step for step, _, _ in others], [second for _, _, second in others]
        figure.add_scatter(x=x, y=y, name=name, legendgroup=name, showlegend=seed == 1)
    print(f"{name}: second half", ", ".join(f"{end:.3f}" for end in ends))
figure.update_yaxes(range=[0, 1.05])
figure.update_layout(
    title="Second half, by score: one line per seed",
    xaxis_title="step",
    yaxis_title="accuracy",
)

# %% [markdown]
# ## Shakespeare, word by word
#
# The same model on text: all plays in the app, the comedies and tragedies in the notebook that you download. They
# are split at the borders of words, so that what stands between two words (a space, a comma, a line end) is a token
# too. The commonest 1999 tokens get a number; every other one is number 0, *unknown*. Two plays are held out: the
# model never trains on them.

# %%
VOCABULARY, HELD_OUT = 2000, ("macbeth", "as-you-like-it")
archive = Path(os.environ.get("SHAKESPEARE", "shakespeare.zip"))
if not archive.exists():
    raise FileNotFoundError(
        "The plays are missing: put the app's file shakespeare.zip beside this notebook."
    )


def tokens_of(play: bytes) -> list[str]:
    """A play without its Markdown, split at the borders of words."""
    text = re.sub(r"^#+ |[*_]| +$", "", play.decode("utf-8"), flags=re.MULTILINE)
    return [piece for piece in re.split(r"\b", text) if piece]


with ZipFile(archive) as file:
    names = fnmatch.filter(sorted(file.namelist()), "*/*.md")
    plays = {Path(name).stem: tokens_of(file.read(name)) for name in names}
train_text = [
    piece for name, pieces in plays.items() if name not in HELD_OUT for piece in pieces
]
held_out_text = [piece for name in HELD_OUT for piece in plays[name]]
known = [piece for piece, _ in Counter(train_text).most_common(VOCABULARY - 1)]
number = {piece: index for index, piece in enumerate(known, start=1)}


def encode(pieces: list[str]) -> Tensor:
    return torch.tensor([number.get(piece, 0) for piece in pieces])


train_tokens, held_out_tokens = encode(train_text), encode(held_out_text)
print(
    f"{len(plays)} plays, {len(train_tokens):,} tokens, and {len(held_out_tokens):,} held out"
)
print(f"unknown: {(held_out_tokens == 0).float().mean():.1%} of the held-out tokens")

# %% [markdown]
# ## Windows that do not overlap
#
# The text is cut into windows of 17 tokens, side by side. Each gives 16 questions: what comes next? Windows
# that overlap would hold the same words many times, and would put words of the training text into the test if
# both were cut from one text.

# %%
WINDOW = 16


def windows(tokens: Tensor) -> Tensor:
    """[window, WINDOW + 1], side by side."""
    count = len(tokens) // (WINDOW + 1)
    return tokens[: count * (WINDOW + 1)].view(count, WINDOW + 1)


train_windows, held_out_windows = windows(train_tokens), windows(held_out_tokens)
print("to train on", tuple(train_windows.shape), " held out", tuple(held_out_windows.shape))
print(
    "first window:",
    "".join(known[i - 1] if i else "?" for i in train_windows[0].tolist()).replace(
        "\n", " / "
    ),
)

# %%
# Test: No token of the text is in two windows, and none is left out but at the end.
index = windows(torch.arange(len(train_tokens)))
assert torch.equal(index.flatten(), torch.arange(index.numel()))
assert len(train_tokens) - index.numel() <= WINDOW

# %% [markdown]
# ## What counting achieves
#
# Before training a network, count. How often does each token occur, after which one, after which two
# (unigrams, bigrams, trigrams)? Each count is mixed with the shorter one before it. The *perplexity* is the
# number of tokens among which one would have to guess blindly to be as uncertain; lower is better. Spaces and
# line ends are easy, so we also look at the words alone.

# %%
V = VOCABULARY
before, here, after = train_tokens[:-2], train_tokens[1:-1], train_tokens[2:]
# What is asked [window, position]; the first two of a window have no two before them.
asked = held_out_windows[:, 2:]
one, two = held_out_windows[:, 1:-1], held_out_windows[:, :-2]  # one before and two before
is_word = torch.tensor([False, *(piece[0].isalpha() for piece in known)])[asked]


def mixed(
    history: Tensor,
    asked_history: Tensor,
    asked: Tensor,
    shorter: Tensor,
    trust: float = 5.0,
) -> Tensor:
    """Probability of what is asked, given its history.

    What was counted, and the shorter history's answer as if it were ``trust`` more counts.
    """
    pairs, pair_counts = (history * V + after).unique(return_counts=True)
    histories, history_counts = history.unique(return_counts=True)

    def count(keys: Tensor, counts: Tensor, wanted: Tensor) -> Tensor:
        place = torch.searchsorted(keys, wanted.contiguous()).clamp(max=len(keys) - 1)
        return torch.where(keys[place] == wanted, counts[place], 0)

    both = count(pairs, pair_counts, asked_history * V + asked)
    return (both + trust * shorter) / (
        count(histories, history_counts, asked_history) + trust
    )


counts = torch.bincount(train_tokens, minlength=V) + 1  # [token]
shares = counts / counts.sum()
unigram = shares[asked]
bigram = mixed(here, one, asked, unigram)
trigram = mixed(before * V + here, two * V + one, asked, bigram)


def perplexities(probability: Tensor) -> tuple[float, float]:
    """Of all that is asked [window, position], and of the words alone."""
    surprise = -probability.log()
    of_words = surprise[is_word[: len(surprise)]]
    return surprise.mean().exp().item(), of_words.mean().exp().item()


by_counting = {"unigrams": unigram, "bigrams": bigram, "trigrams": trigram}
counted = {name: perplexities(probability) for name, probability in by_counting.items()}
for name, (everything, words) in counted.items():
    print(f"{name}: perplexity {everything:.1f}, words alone {words:.0f}")

# %%
# Test: What follows a history adds up to one: the mixed counts are probabilities.
after_love = mixed(here, torch.full((V,), number["love"]), torch.arange(V), shares)
torch.testing.assert_close(after_love.sum(), torch.tensor(1.0), atol=1e-3, rtol=0)

# %% [markdown]
# ## Train the language model
#
# Two blocks, four heads, 64 features, the same Transformer as above. The output layer shares its weights with
# the token embedding, which saves a third of the parameters and learns faster (Press and Wolf, 2017). It gets
# half a minute here; with 5000 steps in your own copy it goes on falling.

# %%
STEPS, SCORED = 1000, 600


def held_out_perplexities(model: nn.Module) -> tuple[float, float]:
    """On the same questions as the counts, in the first SCORED windows."""
    with torch.no_grad():
        probabilities = model(held_out_windows[:SCORED, :-1]).softmax(-1)[:, 1:]
    return perplexities(probabilities.gather(-1, asked[:SCORED, :, None]).squeeze(-1))


torch.manual_seed(0)
poet = Transformer(VOCABULARY, WINDOW, 64, n_layers=2, n_heads=4)
nn.init.normal_(poet.embedding.weight, std=0.125)
poet.head.weight = poet.embedding.weight
optimizer = torch.optim.AdamW(poet.parameters(), lr=0.004, weight_decay=0.0)
schedule = torch.optim.lr_scheduler.OneCycleLR(
    optimizer, 0.004, total_steps=STEPS, pct_start=0.05
)
curve = []
for step in range(1, STEPS + 1):
    batch = train_windows[torch.randint(0, len(train_windows), (32,))]
    loss = F.cross_entropy(poet(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(poet.parameters(), 1.0)
    optimizer.step()
    schedule.step()
    if step % (STEPS // 10) == 0:
        curve.append((step, *held_out_perplexities(poet)))
        everything, words = curve[-1][1:]
        print(
            f"step {step} of {STEPS}: perplexity {everything:.1f}, words alone {words:.0f}"
        )

# %%
figure = go.Figure(
    go.Scatter(
        x=[row[0] for row in curve],
        y=[row[2] for row in curve],
        name="transformer",
        mode="lines+markers",
    )
)
for name, (_, words) in counted.items():
    figure.add_hline(y=words, line_dash="dash", label={"text": name, "textposition": "end"})
figure.update_yaxes(type="log")
figure.update_layout(
    title="Held-out plays, words alone", xaxis_title="step", yaxis_title="perplexity"
)

# %%
# Test: It is better than counting single tokens, on everything and on the words alone.
assert curve[-1][1] < counted["unigrams"][0]
assert curve[-1][2] < counted["unigrams"][1]

# %% [markdown]
# ## Let it speak
#
# One token after another, each drawn from what the model thinks probable; it sees the last 16. The unknown
# token is never drawn. Part of what it has learned is layout: names of speakers, line ends, commas.

# %%
torch.manual_seed(4)
spoken = encode([piece for piece in re.split(r"\b", "My lord, I ") if piece]).tolist()
with torch.no_grad():
    for _ in range(120):
        logits = poet(torch.tensor([spoken[-WINDOW:]]))[0, -1] / 0.8
        logits[0] = -math.inf
        spoken.append(int(torch.multinomial(logits.softmax(-1), 1)))
print("".join(known[i - 1] if i else "?" for i in spoken))
