"""Next word: to be , → be , or. A token is a word or what stands between two, unless that is a single space."""

from __future__ import annotations

from functools import partial

from engine.tasks.next_token import answer
from engine.tasks.rule import TaskRule
from engine.text.corpus import text_corpus

TASK = TaskRule(answer=answer, corpus=partial(text_corpus, unit="words"))
