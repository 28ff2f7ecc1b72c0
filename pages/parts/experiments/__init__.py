"""Parts shared by the pages of experiments: the arms, the board, the claims, the running experiments."""
