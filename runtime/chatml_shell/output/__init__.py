"""What a command wrote, made fit to be read: bytes in, text without secrets and control sequences out (section 18.3).

    Capture ──sanitise──▶ text ──redact──▶ ──cut──▶ Output

The order matters. Control characters go first, because a secret with one in its middle is still a secret; the cut comes
last, because it would hide the half of one.
"""
