"""The golden record: what the engine gave before it was rearranged, to be compared with what it gives now."""
