"""What is kept so that an ask need not be done again: answers, and what was found."""
