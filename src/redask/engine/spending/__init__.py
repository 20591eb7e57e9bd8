"""Who pays for what is called beside completions, and how it is booked."""
