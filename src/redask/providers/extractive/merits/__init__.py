"""What speaks for a line beside the words of the question."""
