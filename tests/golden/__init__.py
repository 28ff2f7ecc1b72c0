"""The golden record: the engine's numbers before it was rearranged, to be compared with today's."""
