"""The policy of a runtime: which rules a command matches, and what that decides (shell.md sections 3.6 and 15).

In comes a *subject*, everything that is known about a command under review; out comes a decision with its reason. All
rules are evaluated and the strongest action wins, so their order never changes it: deny, then ask, then allow, and the
default only when nothing matches.

`matcher` turns the tree of a rule's matchers into a flat program of tests and jumps when the runtime is made: matchers
nest deeper than any call stack, and a subject is then tested in time linear in their number.
"""
