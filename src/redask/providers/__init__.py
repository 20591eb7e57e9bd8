"""Who can answer: `registry` has one row for each, `pool` opens them, the rest are adapters."""
