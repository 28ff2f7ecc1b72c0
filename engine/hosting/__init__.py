"""The limits of a host, its memory and cores, and the shares of its visitors."""
