"""Settings: their declaration with bounds and help, the plain settings of every run, and errors about their values."""
