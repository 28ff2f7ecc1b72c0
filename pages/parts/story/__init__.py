"""Parts of the story's page: its state, the question with its feedback, the screen of a step."""
