"""The lab page's parts: the form, the run's controls, facts before training, findings after."""
