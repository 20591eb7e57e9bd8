"""The answerer without a model: it quotes sentences of the sources and cites them."""
