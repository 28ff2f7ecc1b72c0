"""Order is lost by averaging: a learned table of positions, and a mean over them."""

# %% [markdown]
# # Order is lost by averaging
#
# A small model adds a table of positions, takes the mean over the positions, and has one linear layer. It
# learns its task, but it cannot know the order of its input. Why?

# %% [markdown]
# ## The data and the model
#
# 3000 sequences of 10 positions with 10 numbers each, drawn from $\mathcal N(0, 1)$. The table $P$ has one
# row for each position and starts at zero.
#
# $$
# \hat y = w \cdot \frac{1}{10} \sum_{t=1}^{10} (x_t + P_t) + b
# $$
#
# The seed fixes every random draw, so your numbers match the given ones.

# %%
import plotly.graph_objects as go
import torch
from torch import Tensor, nn

torch.set_num_threads(1)
torch.manual_seed(0)
inputs = torch.randn(3000, 10, 10)  # [sequence, position, feature]


class MeanPooled(nn.Module):
    """Table added, mean over the positions, one linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.zeros(10, 10))  # [position, feature]
        self.linear = nn.Linear(10, 1)

    def forward(self, x: Tensor) -> Tensor:
        """x [batch, position, feature] -> [batch]"""
        pooled = (x + self.table).mean(dim=1)  # [batch, feature]
        return self.linear(pooled).squeeze(-1)


model = MeanPooled()
print("inputs", tuple(inputs.shape), " outputs", tuple(model(inputs).shape))

# %% [markdown]
# ## Before training
#
# The first two outputs of the untrained model, and the two means that it is going to be asked for. Untrained,
# it gives some weighted sum of the input: no relation to the mean yet.

# %%
means = inputs.mean(dim=(1, 2))  # [sequence]
with torch.no_grad():
    untrained = model(inputs)
print(f"first output: given 0.0671, here {untrained[0]:.4f}")
print(f"second output: given 0.0436, here {untrained[1]:.4f}")
print(f"mean of the first sequence: given 0.0880, here {means[0]:.4f}")
print(f"mean of the second sequence: given -0.0395, here {means[1]:.4f}")

# %%
# Test: Both outputs and both means are the given ones to four digits.
torch.testing.assert_close(
    untrained[:2].double(), torch.tensor([0.0671, 0.0436]).double(), atol=6e-5, rtol=0
)
torch.testing.assert_close(
    means[:2].double(), torch.tensor([0.0880, -0.0395]).double(), atol=6e-5, rtol=0
)

# %% [markdown]
# ## Train it to predict the mean
#
# Mean squared error against the mean of the sequence, Adam. A constant answer has the variance of the means
# as its error: that is the line to get below.

# %%
EPOCHS = 15


def train(model: nn.Module, inputs: Tensor, targets: Tensor, epochs: int) -> list[float]:
    """Batches of 100 in a new order each epoch. The mean squared error of each epoch."""
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    losses = []
    for _ in range(epochs):
        total = 0.0
        for batch in torch.randperm(len(inputs)).split(100):
            loss = ((model(inputs[batch]) - targets[batch]) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
        losses.append(total / len(inputs))
    return losses


losses = train(model, inputs, means, EPOCHS)
constant = means.var().item()
print(f"a constant answer: {constant:.5f}")
print(f"epoch 1: {losses[0]:.5f}, epoch {EPOCHS}: {losses[-1]:.2e}")

# %%
figure = go.Figure(
    go.Scatter(
        x=list(range(1, EPOCHS + 1)), y=losses, name="training", mode="lines+markers"
    )
)
figure.add_hline(
    y=constant, line_dash="dash", label={"text": "constant answer", "textposition": "end"}
)
figure.update_yaxes(type="log", exponentformat="power")
figure.update_layout(
    title="It learns the mean", xaxis_title="epoch", yaxis_title="mean squared error"
)

# %%
# Test: Every weight of the linear layer has come to 1/10, which is the mean written as a sum.
weights = model.linear.weight.detach()
torch.testing.assert_close(weights, torch.full_like(weights, 0.1), atol=0.005, rtol=0)

# %% [markdown]
# ## What the table has learned
#
# All rows are the same. The mean over the positions gives every row the same gradient, and all rows started at
# zero. So the table contains nothing about positions.

# %%
table = model.table.detach()
figure = go.Figure(go.Heatmap(z=table.tolist(), colorbar_title="value"))
figure.update_yaxes(autorange="reversed", dtick=1)
figure.update_xaxes(dtick=1)
figure.update_layout(
    title="The trained table: ten times the same row",
    xaxis_title="feature",
    yaxis_title="position",
)

# %%
# Test: No row of the trained table differs from the first.
difference = (table - table[0]).abs().max().item()
print(f"largest difference between two rows: {difference:.1e}")
assert difference < 1e-6

# %% [markdown]
# ## After the mean, any table is one constant
#
# This is not an accident of the training. The mean of a sum is the sum of the means:
#
# $$
# \frac{1}{10} \sum_t (x_t + P_t) = \frac{1}{10} \sum_t x_t + \bar P
# $$
#
# Only the mean row $\bar P$ remains. It adds a constant to the input, which the bias can do already. So a table
# with different rows gives the same outputs as a table with their mean in every row.

# %%
# Test: A random table gives the same outputs as its mean row alone.
random_table = torch.randn(10, 10)
with torch.no_grad():
    model.table.copy_(random_table)
    with_table = model(inputs)
    model.table.copy_(random_table.mean(dim=0).expand(10, 10))
    with_mean_row = model(inputs)
print(
    f"largest difference over 3000 outputs: {(with_table - with_mean_row).abs().max():.1e}"
)
torch.testing.assert_close(with_table, with_mean_row, atol=1e-5, rtol=0)

# %% [markdown]
# ## Shuffle the positions: the output does not move
#
# Give the model the same sequence in another order. A model that knew positions would answer something else.

# %%
with torch.no_grad():
    model.table.copy_(random_table)
    for order in torch.rand(3, 10).argsort():  # three random orders
        print(f"order {order.tolist()}: output {model(inputs[:1, order]).item():.6f}")
    print(f"in its own order:                    output {model(inputs[:1]).item():.6f}")

# %%
# Test: Over all sequences, no output moves when the positions are shuffled.
with torch.no_grad():
    moved = (model(inputs[:, torch.randperm(10)]) - model(inputs)).abs().max().item()
print(f"largest change over 3000 outputs: {moved:.1e}")
assert moved < 1e-5

# %% [markdown]
# ## A task that needs the order
#
# Ask for the mean of the *first* position only. The averaging model cannot tell which position was the first:
# the best it can do is to answer the mean of all ten, which leaves nine tenths of the variance. A model that
# keeps the positions apart until its linear layer has no trouble, and does not even need a table: each
# position has weights of its own.


# %%
class Flattened(nn.Module):
    """No mean: one linear layer on all positions side by side."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(100, 1)

    def forward(self, x: Tensor) -> Tensor:
        """x [batch, position, feature] -> [batch]"""
        return self.linear(x.flatten(1)).squeeze(
            -1
        )  # [batch, position * feature] -> [batch]


first = inputs[:, 0].mean(dim=-1)  # [sequence]
variance = first.var().item()
curves = {}
for name, contender in {
    "mean over positions": MeanPooled(),
    "positions kept apart": Flattened(),
}.items():
    curves[name] = [loss / variance for loss in train(contender, inputs, first, EPOCHS)]
    print(f"{name}: {curves[name][-1]:.3f} of the variance is left")

# %%
figure = go.Figure(
    [
        go.Scatter(x=list(range(1, EPOCHS + 1)), y=curve, name=name)
        for name, curve in curves.items()
    ]
)
figure.add_hline(
    y=0.9,
    line_dash="dash",
    label={"text": "0.9: the best without order", "textposition": "end"},
)
figure.update_yaxes(rangemode="tozero")
figure.update_layout(
    title="The mean of the first position",
    xaxis_title="epoch",
    yaxis_title="share of the variance that is left",
)

# %%
# Test: Averaging leaves about nine tenths; keeping the positions apart leaves almost nothing.
assert 0.85 < curves["mean over positions"][-1] < 0.95
assert curves["positions kept apart"][-1] < 0.05

# %% [markdown]
# ## What to take away
#
# A positional encoding is of use only to a model that treats positions differently *after* it was added.
# Attention does: each position asks its own question. A mean straight after the table does not. If your model
# ends in a mean, the order must have done its work before it.
