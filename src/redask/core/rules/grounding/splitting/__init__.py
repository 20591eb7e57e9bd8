"""An answer taken apart: blocks, sentences, and what states nothing."""
