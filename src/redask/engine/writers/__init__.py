"""What models write beside answers: statements, follow-ups made whole, verdicts on claims. See the modules."""
