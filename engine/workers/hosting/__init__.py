"""What a host allows, and what it has."""
