"""The numbers and snapshots that a training run records. Recording does not change the training."""

from dataclasses import dataclass

SNAPSHOT_NOW = "snapshot now"  # the request for a Snapshot, sent to a training generator
AHEAD = 32  # steps that a training may take before it gives their events, if nothing waits for a single one


@dataclass(frozen=True)
class RecordOptions:
    """The default records everything that the lab shows."""

    snapshots: bool = True
    """Attention patterns, encoding and samples (:func:`engine.estimate.recording.snapshot_steps`)."""
    evaluations: int | None = None
    """The approximate number of evenly spaced validations, each on all held-out sequences and with the gradient norms by part.
    None: as often as the config's cost allows, on fewer sequences before the last (:mod:`engine.estimate.recording`)."""
    memory: bool = True
    remedy: bool = True
    """After a failure, look for a setting that would have prevented it."""
    measurements: tuple[str, ...] = ()
    """Names from ``engine.analysis.measurements.MEASUREMENTS``, measured on the trained model at the end."""


DEFAULT_RECORD = RecordOptions()
LEAST_RECORD = RecordOptions(snapshots=False, evaluations=1, memory=False, remedy=False)
