"""Training: data, the loop, snapshots, evaluation, measurements. Needs torch, so only workers import it."""
