"""The registry of documented issues, in the order of the map.

To add one: write ``engine/experiments/issues/<group>/<name>.py`` and ``<name>.md`` beside it
(:func:`engine.experiments.issues.issue.read_issue`), and add one line here.
"""

from pkgutil import resolve_name

from engine.experiments.issues.issue import Issue

# In the order of the map
NAMES = (
    "depth.what_depth_brings",
    "depth.overfitting_depth",
    "depth.missing_skips",
    "depth.tokens_alike",
    "depth.no_normalization",
    "depth.warm_up_and_qk_norm",
    "depth.interpretability",
    "depth.shared_layers",
    "attention.data_hunger",
    "attention.shortcuts",
    "attention.missing_mask",
    "attention.heads",
    "attention.attention_spreads",
    "attention.attention_sinks",
    "encoding.longer_sequences",
    "encoding.encoding_fits_task",
    "encoding.learned_table",
    "encoding.no_encoding",
)
ISSUES: dict[str, Issue] = {
    issue.slug: issue for issue in (resolve_name(f"engine.experiments.issues.{name}:ISSUE") for name in NAMES)
}
# the present slug by each earlier one, so that old links, lessons and commands still work
RENAMED = {
    "stacking-does-not-help": "what-depth-brings",
    "layers-or-rate": "what-depth-brings",
    "fixed-encoding": "encoding-fits-task",
    "learned-needs-data": "learned-table",
    "visits-per-position": "learned-table",
    "table-scale": "learned-table",
    "encoding-through-the-stack": "longer-sequences",
    "overlapping-windows": "overfitting-depth",
    "trivial-solutions": "shortcuts",
    "position-shortcut": "shortcuts",
}
# earlier slugs of what is counted and not trained: the page Cost shows it, and links lead there
COSTS = ("cost", "quadratic-cost", "parameter-growth")
