"""What training is made of: data, the loop, what is looked at, what is measured. Needs torch; workers import it."""
