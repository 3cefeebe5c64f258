"""nr-chat: a plain text format for chat messages."""
