"""The moderator runtime: sessions over ChatML values."""
