"""Next character: T o ␣ b → o ␣ b e. Of Shakespeare's plays, or of a text of one's own."""

from __future__ import annotations

from functools import partial

from engine.tasks.next_token import answer
from engine.tasks.rule import TaskRule
from engine.text.corpus import text_corpus

TASK = TaskRule(answer=answer, corpus=partial(text_corpus, unit="characters"))
