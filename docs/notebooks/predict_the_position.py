"""Predict the position: a table is learned, and the last batch of an epoch misleads."""

# %% [markdown]
# # Predict the position
#
# A model must name the position of each token. The tokens are random, so only the learned table of positions
# can answer.

# %% [markdown]
# ## The data
#
# 1000 sequences have random lengths from 1 to 20. The padding must not count in the loss.

# %%
import plotly.graph_objects as go
import torch
from torch import Tensor, nn

torch.set_num_threads(1)
LONGEST, TOKENS, WIDTH = 20, 100, 16
SEEDS, EPOCHS = 10, 25
positions = torch.arange(LONGEST)  # the targets, 0 to 19


def draw(sequences: int) -> tuple[Tensor, Tensor]:
    """Tokens and mask (True if real), both [sequence, position]."""
    lengths = torch.randint(1, LONGEST + 1, (sequences,))
    real = positions < lengths[:, None]
    tokens = torch.randint(0, TOKENS, (sequences, LONGEST)).masked_fill(~real, 0)
    return tokens, real


torch.manual_seed(0)
tokens, real = draw(1000)
print(f"{real.sum()} real positions, {(~real).sum()} of padding")
print("the first sequence:", tokens[0][real[0]].tolist())

# %%
# Test: The mask is a run of real tokens from the left, at least one of them.
assert bool(real[:, 0].all())
assert bool((real[:, 1:] <= real[:, :-1]).all())

# %% [markdown]
# ## The model
#
# Token embedding (100 × 16) plus table (20 × 16), then one linear layer to a single number.
#
# $$
# \hat t = w \cdot (E_{x_t} + P_t) + b
# $$


# %%
class Position(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(TOKENS, WIDTH)
        self.table = nn.Embedding(LONGEST, WIDTH)
        self.linear = nn.Linear(WIDTH, 1)

    def forward(self, tokens: Tensor) -> Tensor:
        """tokens [batch, position] -> [batch, position]"""
        return self.linear(self.embedding(tokens) + self.table(positions)).squeeze(-1)


def masked_error(answer: Tensor, real: Tensor) -> Tensor:
    """Mean squared error in positions², over real positions only."""
    return ((answer - positions) ** 2)[real].mean()


print(f"{sum(weights.numel() for weights in Position().parameters()):,} parameters")

# %%
# Test: What the model says about padding does not change the error.
answer = Position()(tokens)
torch.testing.assert_close(
    masked_error(answer, real), masked_error(answer.masked_fill(~real, 1e6), real)
)

# %% [markdown]
# ## Ten seeds
#
# Adam as it comes, batches of 32, 25 epochs; each seed draws its own data, initial weights and order. 1000 is
# 31 batches of 32 and one of 8. We keep the loss of every batch, so that we can look at an epoch in two ways:
# the mean over all its sequences, or the loss of its last batch, which is what a loop prints when
# `print(loss)` stands after it.

# %%
BATCH = 32


def train(seed: int) -> tuple[Position, Tensor]:
    """The trained model and the loss of every batch [epoch, batch]."""
    torch.manual_seed(seed)
    tokens, real = draw(1000)
    model = Position()
    optimizer = torch.optim.Adam(model.parameters())
    losses = []
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(tokens)).split(BATCH):
            loss = masked_error(model(tokens[batch]), real[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return model, torch.tensor(losses).view(EPOCHS, -1)  # [epoch * batch] -> [epoch, batch]


models, by_batch = [], []
for seed in range(SEEDS):
    model, losses = train(seed)
    models.append(model)
    by_batch.append(losses)
    print(f"seed {seed + 1} of {SEEDS}: {losses[0, -1]:5.1f} -> {losses[-1, -1]:.2f}")
every_loss = torch.stack(by_batch)  # [seed, epoch, batch]
sizes = torch.tensor([len(batch) for batch in torch.arange(1000).split(BATCH)])  # [batch]
last_batch = every_loss[:, :, -1]  # [seed, epoch]
epoch_mean = (every_loss * sizes).sum(-1) / sizes.sum()  # [seed, epoch]

# %% [markdown]
# ## Where the two given numbers fall
#
# A notebook printed 58.27 after its first epoch and 2.12 after its last. These two losses say less than they seem
# to. Each thin line is one seed's last batch; the thick line is the mean over whole epochs and all seeds.

# %%
for name, given, column in (
    ("first", 58.27, last_batch[:, 0]),
    ("last", 2.12, last_batch[:, -1]),
):
    low, high = column.min().item(), column.max().item()
    print(f"last batch of the {name} epoch: given {given}, here {low:.2f} to {high:.2f}")
for name, given, column in (
    ("first", 58.27, last_batch[:, 0]),
    ("last", 2.12, last_batch[:, -1]),
):
    below = int((column < given).sum())
    print(f"{name} epoch: {below} of the {SEEDS} seeds are below the given number")
print(f"mean over the first epoch: {epoch_mean[:, 0].mean():.1f}")
print(f"mean over the last epoch: {epoch_mean[:, -1].mean():.2f}")

# %%
epochs = list(range(1, EPOCHS + 1))
figure = go.Figure()
for seed in range(SEEDS):
    figure.add_scatter(
        x=epochs,
        y=last_batch[seed].tolist(),
        name="last batch, one seed",
        legendgroup="last",
        showlegend=seed == 0,
        line={"width": 1},
        opacity=0.5,
    )
figure.add_scatter(
    x=epochs, y=epoch_mean.mean(0).tolist(), name="epoch mean, all seeds", line={"width": 4}
)
figure.add_scatter(
    x=[1, EPOCHS],
    y=[58.27, 2.12],
    name="given: 58.27 and 2.12",
    mode="markers",
    marker={"size": 12, "symbol": "x"},
)
figure.update_yaxes(type="log")
figure.update_layout(
    title="Ten seeds", xaxis_title="epoch", yaxis_title="squared error (positions²)"
)

# %%
# Test: In every seed the error over the last epoch is less than a fifth of that over the first.
assert bool((epoch_mean[:, -1] < 0.2 * epoch_mean[:, 0]).all())

# %% [markdown]
# ## Why the last batch misleads
#
# It is one draw of 8 sequences. Two things go wrong at once:
#
# - **It is noisy.** An average over 8 sequences scatters about $\sqrt{1000 / 8} \approx 11$ times as much as
#   one over 1000, and twice as much as that of a full batch of 32.
# - **It is late.** In the first epoch the loss falls from batch to batch; the last one has seen 31 steps more
#   than the first.
#
# Below: how much the loss of the last batch scatters around the epoch's mean in the second half of the
# training, beside that of the full batches just before it.

# %%
half = EPOCHS // 2
relative = (
    every_loss[:, half:] / epoch_mean[:, half:, None]
)  # [seed, epoch, batch], 1 where a batch is like its epoch
spread = relative.std(dim=(0, 1))  # [batch]
small, full = spread[-1].item(), spread[-11:-1].mean().item()
print(f"scatter of a batch of 32: {full:.0%} of the epoch's mean")
print(f"scatter of the last batch, 8 sequences: {small:.0%}")
print(f"ratio: {small / full:.1f} (2 is expected: the root of 32 / 8)")

# %%
by_size = go.Figure()
for name, batches in (
    ("32 sequences", relative[:, :, -11:-1]),
    ("the last 8", relative[:, :, -1]),
):
    by_size.add_histogram(
        x=batches.flatten().tolist(),
        name=name,
        histnorm="probability",
        xbins={"start": 0, "end": 3, "size": 0.1},
        opacity=0.6,
    )
by_size.update_layout(
    title="One batch against its epoch",
    barmode="overlay",
    xaxis_title="loss / mean of the epoch",
    yaxis_title="share",
)

# %%
# Test: The last batch scatters more than a full one.
assert small > full

# %% [markdown]
# ## What the table has learned
#
# The answer is a sum of a token's part $w \cdot E_x$ and a position's part $w \cdot P_t$, so we can look at
# each alone. The token's part has become small: a token says nothing about its place. The position's part has
# become a rising line, as far as about the tenth position. Then it falls behind; the next step shows why.

# %%
model = models[0]
with torch.no_grad():
    by_position = model.linear(model.table.weight).squeeze(-1)  # [position], bias included
    by_token = (model.embedding.weight @ model.linear.weight.T).squeeze(-1)  # [token]
by_position = by_position + by_token.mean()
print(f"the tokens' parts scatter by {by_token.std():.2f} positions")

# %%
figure = go.Figure()
figure.add_scatter(
    x=positions.tolist(),
    y=positions.tolist(),
    name="true",
    mode="lines",
    line={"dash": "dash"},
)
figure.add_scatter(
    x=positions.tolist(), y=by_position.tolist(), name="learned", mode="lines+markers"
)
figure.update_layout(
    title="The position's part of the answer", xaxis_title="position", yaxis_title="answer"
)

# %%
# Test: The parts of the first ten positions rise from each to the next and are right within one position.
assert bool((by_position[1:10] > by_position[:9]).all())
assert (by_position[:10] - positions[:10]).abs().max() < 1

# %% [markdown]
# ## Late positions are seen less often
#
# Position 0 is in every sequence, position 19 only in those of length 20, one in twenty. A row of the table
# learns only when its position occurs, so the late rows stay behind. A learned table does not need many
# sequences; it needs *every position* in many of them.

# %%
torch.manual_seed(99)
fresh, is_real = draw(4000)
errors = torch.zeros(LONGEST)
for model in models:
    with torch.no_grad():
        squared = (model(fresh) - positions) ** 2
    errors += (squared * is_real).sum(0) / is_real.sum(0) / len(models)
seen = real.sum(0)
for position in (0, 9, 19):
    print(
        f"position {position}: in {seen[position]} of 1000 sequences, error {errors[position]:.2f}"
    )

# %%
figure = go.Figure(go.Bar(x=positions.tolist(), y=errors.tolist(), name="error"))
figure.update_layout(
    title="Error by position, mean over the seeds",
    xaxis_title="position",
    yaxis_title="squared error (positions²)",
)

# %%
# Test: On new sequences the last position's error is above the average of the others.
assert errors[-1] > errors[:-1].mean()

# %% [markdown]
# ## What to take away
#
# Report the mean over an epoch, or better over held-out data, and more than one seed. A given number that
# falls inside the range of ten seeds agrees with ours, and no more can be said: a single last batch could as
# well have shown half or twice as much.
