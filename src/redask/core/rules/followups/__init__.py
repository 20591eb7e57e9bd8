"""Follow-ups: a question that leans on earlier ones is made whole. See `whole_question`."""
