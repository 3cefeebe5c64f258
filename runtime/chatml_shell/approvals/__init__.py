"""Who says yes to one command, and how far that reaches (shell.md section 16).

In comes a subject that the policy left open; out comes permission to go on, another command to be looked at from the
start, or a `Refusal`. What was approved is an *identity*: hashes over everything that decides what will happen, so that
one changed byte asks again. A grant is looked up first, then somebody is asked: the reviewers of the runtime in their
order, or a person through the host's provider. Whoever fails to answer has not said yes, and a grant that cannot be
stored is not given.
"""
