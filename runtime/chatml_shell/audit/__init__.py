"""The audit: what was asked, decided and done, as records that nobody can change unseen (shell.md section 20).

    Event ──record──▶ fields ──filter, redact──▶ Sink ──▶ a line of JSON, chained to the one before
                                                            │
                              RequestTrail, Report ◀── replay, validate

A line holds the digest of the line before and, at its end, the digest of itself without that end. Digests are taken of
the very bytes in the file, so that checking them needs no agreement on how JSON is written. A host that is killed while
it writes leaves a torn line, which is not JSON. Whoever appends next leaves it where it is and puts a record behind it
that says so (`recovered`); only with that record is such a line part of a sound file.
"""
