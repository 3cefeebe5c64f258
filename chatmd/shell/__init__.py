"""Shell declarations inside ChatMD documents."""
