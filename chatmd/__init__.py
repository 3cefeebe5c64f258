"""ChatMD: prompt documents and transcripts as files; and `chatmd.nrchat`, the message text format."""
