"""What happened in a conversation, drawn for people: `chatml run --events`, `--trace`, and the REPL."""
