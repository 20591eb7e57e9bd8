"""Pure encoders that the transports share: what leaves redask looks the same at every transport."""
