"""ChatML: a small statically typed language for policies over LLM conversations."""
