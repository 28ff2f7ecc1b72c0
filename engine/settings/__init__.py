"""What a setting is: its field with bounds and help, the plain settings of every run, and the sentence for one that does not fit."""
