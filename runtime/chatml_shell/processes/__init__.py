"""Real processes: plans in, outcomes out, and nothing left behind (shell.md sections 13 and 18.2).

    run_pipeline   one pipeline: all stages at once, limits, what the audit hears, kill and reap
        │
    Launcher       hands each plan to the fork server, with its three standard streams
        │ socket
    supervisor     a program of its own: verifies, starts, watches and ends one command (see its first lines)

A command gets descriptors 0 to 2 and no others, a session and a process group of its own, no controlling terminal, no
core files, no write permission for others on what it creates, and no new privileges unless they were granted. When a
pipeline is over, by itself or not, every process that descends from it is dead and reaped.
"""
