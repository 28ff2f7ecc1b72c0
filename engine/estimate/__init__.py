"""What a run will take, before it starts: shapes, parameters, memory, arithmetic, time; and what will not work."""
