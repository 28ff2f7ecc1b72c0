"""What pages of experiments share: the arms, the board that fills in, the claims, the running experiments."""
