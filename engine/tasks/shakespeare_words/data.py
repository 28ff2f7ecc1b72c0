"""Next word: sequences are windows of the text; the answer at each position is the word that follows."""

from __future__ import annotations

from engine.tasks.data import TaskData
from engine.tasks.windows import next_token, text_corpus

TASK = TaskData(next_token, corpus=text_corpus)
