"""What models write beside answers: statements, follow-ups, verdicts on claims; see the modules."""
