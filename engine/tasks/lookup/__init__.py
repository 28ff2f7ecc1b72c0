"""The task of finding the pair with the asked key."""
