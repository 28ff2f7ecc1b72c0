"""Questions about a trained model's attention."""
