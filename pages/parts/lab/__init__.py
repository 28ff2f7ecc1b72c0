"""Parts of the lab page: the form, the run's controls, facts before training, the summary after."""
