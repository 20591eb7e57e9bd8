"""Reading a question: its words, what they may name, and every reading that uses them all."""
