"""Next word: to ␣ be → ␣ be , . A token is a word or what stands between two, split at word boundaries."""

from __future__ import annotations

from functools import partial

from engine.tasks.next_token import answer
from engine.tasks.rule import TaskRule
from engine.text.corpus import text_corpus

TASK = TaskRule(answer=answer, corpus=partial(text_corpus, unit="words"))
