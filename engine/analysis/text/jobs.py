from typing import TypedDict

import numpy as np

from engine.config.run_config import RunConfig
from engine.foundation.job import Job

MAX_WRITTEN_TOKENS = 400
MAX_PROMPT_CHARACTERS = 10_000  # characters; a model reads the last tokens that fit into its length


class TextFacts(TypedDict):  # numbers of tokens
    trained: int
    held_out: int
    unknown: int
    known: int


class CountingLevels(TypedDict):
    # mean nats of each counting model on the run's validation windows; empty if no comparison is fair
    levels: dict[str, float]
    known: dict[str, float]  # the same over the tokens of the vocabulary alone, if there are any
    facts: TextFacts


class CountWords(Job[CountingLevels], function=".questions:counting_models", noun="Counting the words of the text"):
    config: RunConfig


class TextComparison(TypedDict):
    tokens: dict[str, int]  # by part: "all", "known", "words", "layout"
    nats: dict[str, dict[str, float]]  # the mean nats by name ("model", "unigram", ...) and part
    # by name: the mean nats of the tokens that follow 1, 2, ... tokens of the window, [length]
    by_read: dict[str, np.ndarray]


class CompareWithCounting(
    Job[TextComparison], function=".questions:beside_counting_models", noun="Comparing the model with counting"
):
    config: RunConfig
    weights: str


class WrittenText(TypedDict):
    prompt: str  # as the model reads it
    text: str  # after the prompt
    unknown: list[str]  # the prompt's words that are not in the vocabulary
    next: list[tuple[str, float]]  # the likeliest tokens after the prompt, with their sampling probabilities
    read: int  # the prompt's tokens that the model reads


class WriteText(Job[WrittenText], function=".questions:sample", noun="Writing the text"):
    config: RunConfig
    weights: str
    prompt: str
    length: int = 60
    temperature: float = 1.0
    top_k: int | None = None
    seed: int = 0
