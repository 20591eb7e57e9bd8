"""json and jsonb over their texts."""
