"""The engines beside hand-written Python and embeddable peers: `python -m benchmarks.engines`."""
