"""The composed configuration of a run, the rules between its settings, links, presets."""
