"""The live board: what a run says, as arrays for a component that draws them as they come."""
