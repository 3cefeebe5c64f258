"""The shell on the command line: who is asked at a terminal, where sessions are kept, and what is shown."""
