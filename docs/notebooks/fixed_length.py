"""A table of ten rows: which shapes are added, and why a fixed length breaks."""

# %% [markdown]
# # A table of ten rows
#
# Every transformer begins with a sum: token embedding plus a row per position. We follow the shapes, then give
# it eleven words.

# %% [markdown]
# ## Tokens become vectors
#
# A vocabulary of 1000 tokens, 256 numbers each. Looking a token up picks its row.

# %%
import plotly.graph_objects as go
import torch
from torch import Tensor, nn

torch.set_num_threads(1)
torch.manual_seed(0)
VOCABULARY, ROWS, WIDTH = 1000, 10, 256
embedding = nn.Embedding(VOCABULARY, WIDTH)
table = nn.Embedding(ROWS, WIDTH)

tokens = torch.randperm(VOCABULARY)[:10]  # ten different tokens
vectors = embedding(tokens)
print("tokens          ", tuple(tokens.shape), tokens.tolist())
print("token embedding ", tuple(embedding.weight.shape))
print("token vectors   ", tuple(vectors.shape))

# %%
# Test: Looking up is the same as multiplying a one-hot row with the matrix.
one_hot = nn.functional.one_hot(tokens, VOCABULARY).float()  # [position, vocabulary]
torch.testing.assert_close(one_hot @ embedding.weight, vectors)

# %% [markdown]
# ## Positions become vectors, and are added
#
# The table is looked up with 0, 1, ..., 9. Both have 256 numbers per position, so they can be added. In a
# batch, the same ten rows are added to every sequence: the missing axis is filled in (*broadcasting*).

# %%
positions = torch.arange(len(tokens))
encoded = vectors + table(positions)
print("table           ", tuple(table.weight.shape))
print("their sum       ", tuple(encoded.shape))

batch = torch.randint(0, VOCABULARY, (32, 10))
print(
    "a batch of 32   ",
    tuple(embedding(batch).shape),
    "+",
    tuple(table(positions).shape),
    "=",
    end=" ",
)
print(tuple((embedding(batch) + table(positions)).shape))
print(
    "parameters      ",
    embedding.weight.numel(),
    "for tokens,",
    table.weight.numel(),
    "for positions",
)

# %%
# Test: In every sequence of the batch, what was added is the table itself.
added = (embedding(batch) + table(positions)) - embedding(batch)
torch.testing.assert_close(added, table.weight.expand(32, 10, WIDTH), atol=1e-5, rtol=0)

# %% [markdown]
# ## The same word at two places
#
# Without positions, a word has the same vector everywhere. With the table, it has a different vector at each
# position. Below is the cosine between a word at position $i$ and the same word at position $j$. Tokens and table
# were drawn at the same scale, so about half of each vector is the word and half the position.

# %%
word = (
    embedding(tokens[:1]) + table.weight
)  # [position, feature], one word at all ten places
cosine = nn.functional.cosine_similarity(
    word[:, None], word[None, :], dim=-1
).detach()  # [position, position]
apart = cosine[~torch.eye(ROWS, dtype=torch.bool)]
print(f"cosine of one word at two different places: {apart.mean():.2f} on average")

# %%
figure = go.Figure(go.Heatmap(z=cosine.tolist(), zmin=0, zmax=1, colorbar_title="cosine"))
figure.update_yaxes(autorange="reversed", dtick=1)
figure.update_xaxes(dtick=1)
figure.update_layout(
    title="One word at ten places", xaxis_title="position", yaxis_title="position"
)

# %%
# Test: One word at two places is alike (cosine near 1/2), but not the same.
assert apart.min() > 0.3
assert apart.max() < 0.7

# %% [markdown]
# ## Eleven words
#
# The table has no row number 10. We run it and catch what happens.

# %%
eleven = torch.randperm(VOCABULARY)[:11]
try:
    embedding(eleven) + table(torch.arange(11))
except IndexError as error:
    print("IndexError:", error)

# %% [markdown]
# Some code adds the whole table instead of looking rows up. Then the shapes do not fit, and it breaks for
# *shorter* texts too.

# %%
for length in (11, 5):
    try:
        embedding(eleven[:length]) + table.weight
    except RuntimeError as error:
        print(f"{length} words, RuntimeError:", error)

# %%
# Test: Eleven words fail both ways; five fail only where the whole table is added.


def works(length: int, whole_table: bool) -> bool:
    rows = torch.arange(ROWS if whole_table else length)
    try:
        embedding(torch.zeros(length, dtype=torch.long)) + table(rows)
    except (IndexError, RuntimeError):
        return False
    return True


assert [works(length, whole_table=False) for length in (5, 10, 11)] == [True, True, False]
assert [works(length, whole_table=True) for length in (5, 10, 11)] == [False, True, False]

# %% [markdown]
# ## A row that nobody has trained
#
# Can we simply make the table longer? Give it 20 rows and train on texts of 10 words. The gradient shows which
# rows learn. Rows 10 to 19 keep their random initial values, so they mean nothing.

# %%
longer = nn.Embedding(20, WIDTH)
loss = ((embedding(batch) + longer(positions)) ** 2).mean()
loss.backward()
gradient = longer.weight.grad
assert gradient is not None
norms = gradient.norm(dim=-1)  # [position]
print("rows with a gradient:", norms.nonzero().flatten().tolist())

# %%
figure = go.Figure(go.Bar(x=list(range(20)), y=norms.tolist(), name="gradient norm"))
figure.update_layout(
    title="Which rows learn from texts of ten words",
    xaxis_title="row",
    yaxis_title="gradient norm",
)

# %%
# Test: Rows 0 to 9 have a gradient, rows 10 to 19 have none at all.
assert bool((norms[:10] > 0).all())
assert bool((norms[10:] == 0).all())

# %% [markdown]
# ## A row for every position there is
#
# A formula has no last row. The sinusoids of Vaswani et al. (2017, section 3.5) give a vector for any
# position:
#
# $$
# P_{t,2i} = \sin(t / 10000^{2i/d}), \quad P_{t,2i+1} = \cos(t / 10000^{2i/d})
# $$
#
# It *runs* at any length. Whether a model that was trained on ten positions *understands* the eleventh is
# another question; the lab answers it under "longer sequences".


# %%
def sinusoid(length: int, width: int) -> Tensor:
    """[position, feature], sine and cosine interleaved."""
    frequencies = 10_000 ** (-torch.arange(0, width, 2) / width)  # [feature / 2]
    angles = torch.arange(length)[:, None] * frequencies  # [position, feature / 2]
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(
        1
    )  # [position, feature / 2, 2] -> [position, feature]


for length in (5, 11, 5000):
    words = torch.randint(0, VOCABULARY, (length,))
    print(f"{length} words:", tuple((embedding(words) + sinusoid(length, WIDTH)).shape))

# %%
# Test: A longer text does not change the rows of a shorter one.
torch.testing.assert_close(sinusoid(5000, WIDTH)[:10], sinusoid(10, WIDTH))
