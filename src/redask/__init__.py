"""redask: ask a question over your own data and get an answer you can check."""

__version__ = "0.1.0"
