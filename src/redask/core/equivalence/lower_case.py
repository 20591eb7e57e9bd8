"""Text in lower case whose characters stay where they were: `lower(text)`."""


def lower(text: str) -> str:
    """The text in lower case, each character at its place."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(c if len(c.lower()) > 1 else c.lower() for c in text)  # a capital İ
