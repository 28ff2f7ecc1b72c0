"""What the start page's one button does, press by press, and what is said and shown before each."""

from collections import Counter
from dataclasses import dataclass, field

import streamlit as st

from engine.config.presets import PRESETS
from engine.experiments.run_readings import score_of
from engine.foundation.formatting import counted, percent
from engine.runs.run import Run
from engine.serving.health import Health
from engine.serving.processes.machines import HERE
from pages.parts.app.recent_runs import start_run
from pages.parts.app.server import find
from pages.parts.boards.component import Json
from pages.parts.boards.recorded import recorded_run

CONFIG = PRESETS["reverse"].config.replace(steps=100)
"""The lab's first example, which has learned its task after fifty steps."""
CPU = "CPU"
RUN, PRESSES = "start.run", "start.presses"
"""Session keys: the id of the run, and how often the button was pressed since it began."""


@dataclass(frozen=True)
class Press:
    """The button before it is pressed."""

    label: str
    icon: str
    says: str
    """What is said above it, in Markdown."""
    look: Json = field(default_factory=dict)
    """What the picture shows meanwhile (``look`` of the board)."""


SKIP = "skip.0"
"""The part that is cut, by its name in the picture."""
WAY = (
    Press(
        "Train it yourself", ":material/play_arrow:",
        "This small transformer must write six digits backwards. It is **untrained**: it guesses. What it writes turns green as it learns.",
    ),
    Press(
        "Cut the red lines", ":material/content_cut:",
        "The red lines carry each digit past the layer: a *skip connection*. Does it still answer without them?", {"marks": "skip"},
    ),
    Press(
        "Swap two digits", ":material/swap_horiz:",
        "The digits cannot pass the layer now: only what it writes itself gets through. Next: lines back, first and last digit swapped. "
        "Does it follow?", {"without": [SKIP]},
    ),
    Press(
        "Start over", ":material/replay:",
        "This sequence is new to it. If it is still right, it has learned where to look, and not which digits come.",
        {"swaps": [[0, CONFIG.seq_len - 1]]},
    ),
)  # fmt: skip
TRAINS = "It trains. In the row “writes”, green is right and red is wrong."
DOORS = (
    ("lab.py", "science", "**Lab**  \nStack layers and heads, choose the encoding, train, take parts away."),
    ("questions.py", "bug_report", "**Questions**  \nGuess what breaks a deep stack, run the experiment, see."),
    ("encodings.py", "pin_drop", "**Encodings**  \nHow a model knows the order, and which way to choose."),
)
"""Pages, each with its icon and its words."""


def shown_run() -> Run | None:
    """The run of the last press on Train; the recorded one where none could be started."""
    name = st.session_state.get(RUN)
    return recorded_run() if name == recorded_run().id else find(name or "")


def present(run: Run | None) -> Press:
    """The button as it is now; while a run trains it stays as it was pressed."""
    return WAY[0 if run is None or run.live else st.session_state.get(PRESSES, 0)]


def sentence(now: Press, run: Run | None) -> str:
    """What is said above the button; of a run that has ended, also what it learned."""
    if run is not None and run.live:
        return TRAINS
    score = score_of(run.config, run.events) if run is not None and now is WAY[1] else None
    before = f"**Now {percent(score.value)} of its answers to new sequences are right.** " if score else ""
    return f"{before}{now.says}"


def press() -> None:
    """Train; where that is refused, show the recorded run. Later presses change what the picture shows of the run; those that come while it
    trains, as a double click does, change nothing."""
    run = shown_run()
    if run is not None and run.live:
        return
    presses = st.session_state.get(PRESSES, 0) if run else 0
    if presses == 0:
        st.session_state[RUN] = (start_run(CONFIG) or recorded_run()).id
    elif presses == len(WAY) - 1:
        del st.session_state[RUN]
    st.session_state[PRESSES] = (presses + 1) % len(WAY)


def workers_in_words(health: Health) -> str:
    """Where runs are trained: on which devices, with how many workers, and on how many machines of a cluster. The address of a
    cluster that cannot be reached stands in the log: it is not the visitors'."""
    lost = " The cluster cannot be reached, so runs are trained on the app's own machine."
    gone = lost if health.cluster_is_gone else ""
    if not health.ready:
        return f"The workers are waking up.{gone}"
    torch = f"torch {health.device.get('torch', '')}"
    if there := health.on_cluster:
        kinds = Counter(worker.accelerator or CPU for worker in there)
        many = ", ".join(f"{number} on {name}" for name, number in kinds.items())
        kind = many if len(kinds) > 1 else next(iter(kinds))
        workers, machines = counted(len(there), "worker"), counted(len(health.hosts - {HERE}), "machine")
        return f"Your own runs train on {workers} of {machines} of the cluster ({kind}), {torch}.{gone}"
    name = health.device.get("accelerator_name") or health.device.get("accelerator") or CPU
    return f"Your own runs train on {name} with {counted(health.size, 'worker')}, {torch}.{gone}"
