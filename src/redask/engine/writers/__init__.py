"""What models write beside answers: statements, and follow-ups made whole. See the modules."""
