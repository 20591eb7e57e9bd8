"""The forward index: what each entity says, as numbers, beside its address."""
