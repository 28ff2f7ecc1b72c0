"""Parts of the page of questions: the map and its conclusions, the guess, the experiment, and what stands below it."""
