"""Parts of the story's page: its state, the screen of a step."""
