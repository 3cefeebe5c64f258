"""The ceiling over single commands: denied before any rule of the document is looked at (section 13, P6)."""

from __future__ import annotations

import posixpath

from chatml_shell.admin.policy import AdminPolicy
from chatml_shell.plans.command import Command


def denial(
    policy: AdminPolicy, command: Command, effects: frozenset[str], *, executable: str, trusted: bool
) -> str | None:
    """Why the administrator denies a command, with the code; None when nothing does.

    `effects` are the names of the kinds of its effects, `executable` is the file that it leads to: a program is denied
    by the name that was asked for and by that of the file, so that no alias or link hides it.

    >>> policy = AdminPolicy(denied_programs=("rm",))
    >>> denial(policy, Command("/bin/rm", ("x",)), frozenset(), executable="/usr/bin/rm", trusted=True)
    'the administrator denies the program `rm` (shell.admin_program_denied)'
    """
    names = {posixpath.basename(command.program), posixpath.basename(executable)}
    for program in policy.denied_programs:
        if program in names:
            return denied("shell.admin_program_denied", f"the administrator denies the program `{program}`")
    for substring in policy.denied_argument_substrings:
        if any(substring in word for word in command.argv):
            return denied("shell.admin_argument_denied", f"the administrator denies words that contain `{substring}`")
    for effect in policy.denied_effects:
        if effect in effects:
            return denied("shell.admin_effect_denied", f"the administrator denies the effect `{effect}`")
    if policy.require_trusted_executables and not trusted:
        return denied("shell.admin_trusted_executable_required", f"{executable} is not trusted")
    return None


def denied(code: str, why: str) -> str:
    """A reason with its code."""
    return f"{why} ({code})"
