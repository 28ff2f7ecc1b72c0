"""The numbers and snapshots that a training run records. Recording does not change the training."""

from dataclasses import dataclass

SNAPSHOT_NOW = "snapshot now"  # the request for a Snapshot, sent to a training generator
AHEAD = 32  # steps that a training may take before it gives their events, if nothing waits for a single one


@dataclass(frozen=True)
class RecordOptions:
    snapshots: bool = True  # attention patterns, encoding and samples (engine.estimate.recording.snapshot_steps)
    evaluations: int | None = None
    """The approximate number of evenly spaced validations, each on all held-out sequences and with the gradient norms by part.
    None: as often as the config's cost allows, on fewer sequences before the last (:mod:`engine.estimate.recording`)."""
    memory: bool = True
    remedy: bool = True  # after a failure, look for a setting that would have prevented it
    # names from engine.analysis.measurements.MEASUREMENTS, measured on the trained model at the end
    measurements: tuple[str, ...] = ()


DEFAULT_RECORD = RecordOptions()
LEAST_RECORD = RecordOptions(snapshots=False, evaluations=1, memory=False, remedy=False)
