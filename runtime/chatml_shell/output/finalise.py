"""The steps from what was captured to what a model may read."""

from __future__ import annotations

import attrs

from chatml_shell.errors import Refusal
from chatml_shell.output.redact import Redactor
from chatml_shell.output.sanitise import decoded, sanitise
from chatml_shell.plans.grants import Bounds
from chatml_shell.plans.outcome import Capture


@attrs.frozen
class Output:
    """What a command wrote, as text that may be shown. It is not to be trusted: the command chose it."""

    stdout: str
    stderr: str
    stdout_truncated: bool = False
    stderr_truncated: bool = False


def finalise(stdout: Capture, stderr: Capture, redactor: Redactor, bounds: Bounds) -> Output:
    """What a command wrote, sanitised, redacted and cut to the limits of its channels, which count bytes of UTF-8.

    Raises `Refusal` (`output_limit_exceeded`) when both together are longer than `bounds.total_output`.
    """
    return _settled(_text(stdout, redactor), _text(stderr, redactor), (stdout.cut, stderr.cut), redactor, bounds)


def refinalise(output: Output, redactor: Redactor, bounds: Bounds) -> Output:
    """Texts that an interceptor made, or that no process wrote, through the same steps. What was truncated stays so."""
    stdout, stderr = (redactor.redact(sanitise(text)) for text in (output.stdout, output.stderr))
    return _settled(stdout, stderr, (output.stdout_truncated, output.stderr_truncated), redactor, bounds)


def _text(capture: Capture, redactor: Redactor) -> str:
    """A channel without control sequences and secrets; of one that was cut, no half of a secret either."""
    return redactor.redact(decoded(capture.data, cut=capture.cut), cut=capture.cut)


def _settled(stdout: str, stderr: str, truncated: tuple[bool, bool], redactor: Redactor, bounds: Bounds) -> Output:
    out, out_cut = _cut(stdout, bounds.stdout)
    err, err_cut = _cut(stderr, bounds.stderr)
    out, err = redactor.apart(out, err)
    total = sum(len(text.encode("utf-8", "replace")) for text in (out, err))
    if total > bounds.total_output:
        raise Refusal(
            "output_limit_exceeded",
            f"the output has {total} bytes, more than {bounds.total_output}",
            {"limit_bytes": bounds.total_output},
        )
    return Output(out, err, truncated[0] or out_cut, truncated[1] or err_cut)


def _cut(text: str, limit: int) -> tuple[str, bool]:
    """The first characters of a text that have at most `limit` bytes, and whether that was not all.

    >>> _cut("aé", 2)
    ('a', True)
    """
    data = text.encode("utf-8", "replace")
    return (text, False) if len(data) <= limit else (data[:limit].decode("utf-8", "ignore"), True)
