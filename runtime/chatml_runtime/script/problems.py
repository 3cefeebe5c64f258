"""The wording of the runtime: one sentence per fact, in one place (X-13).

Every message carries the facts that runtime.md names: the operation, the phase, the field, the name, the limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def listed(names: Iterable[object]) -> str:
    """Names as a sentence lists them.

    >>> listed(["a", "b", "c"])
    'a, b, c'
    """
    return ", ".join(str(name) for name in names)


# -- operations (section 4.3)


def wrong_argument_count(op: str, expected: int, got: int) -> str:
    return f"{op}: expected {expected} argument{'' if expected == 1 else 's'}, got {got}"


def wrong_argument(op: str, position: int, kind: str) -> str:
    return f"{op}: expected {kind} argument in position {position}"


def negative_delay(op: str, delay: int) -> str:
    return f"{op}: the delay must be non-negative, got {delay} ms"


def not_configured(op: str) -> str:
    return f"{op} is not configured: this host offers no such capability"


def wrong_result(op: str, kind: str, got: str) -> str:
    return f"{op}: the host answered with a Python `{got}`, not a {kind}"


def foreign_result(op: str, problem: str) -> str:
    return f"{op}: the host's answer is not a value of the language: {problem}"


def not_in_a_run(op: str) -> str:
    return f"{op} is only possible while a handler runs"


def duplicate_operations(names: Iterable[str]) -> str:
    return f"Duplicate operations in the registry: {listed(names)}"


def unexpected_phase(phases: Sequence[str]) -> str:
    return f"expected one of [{listed(phases)}]"


def unknown_operation(op: str) -> str:
    return f"Unknown task operation '{op}'"


def wrong_phase(op: str, phase: str, reason: str) -> str:
    return f"Operation '{op}' is invalid in phase '{phase}': {reason}"


def must_be_spawned(op: str) -> str:
    return f"Operation '{op}' must be spawned"


def not_spawnable(op: str) -> str:
    return f"Operation '{op}' is not spawnable"


def asynchronous_operation(op: str) -> str:
    return f"Operation '{op}' is asynchronous; use the async interface of the session (ahandle_event, aresume)"


def too_many_spawns(limit: int) -> str:
    return f"ChatML spawn limit exceeded: this run may spawn {limit}"


def unknown_local_effect(op: str) -> str:
    return f"Unknown local effect '{op}'"


# -- handler runs (sections 5 and 6)


def not_a_task(who: str) -> str:
    return f"Expected a task from {who}, which returned another value"


# -- the session (sections 6, 7 and 8)

ENDED = "The session has ended and takes no more events"
CLOSED_MODERATOR = "The moderator is closed and takes no more events; restore a new one from a snapshot to go on"
BUSY = "The session is already handling an event"
RESTORE_WHILE_RUNNING = "Cannot restore a session while it is handling an event"
SUSPENDED = "The session is waiting for an answer; resume it or abandon the request"
RESTORE_WHILE_SUSPENDED = "Cannot restore a session while it is waiting for an answer"
NO_REQUEST = "No request waits for a response: a submission or a `turn_start` comes before it"
NOT_SUSPENDED = "The session is not waiting for an answer"


CONTEXT_NO_RECORD = "context: expected a record with a string field 'phase'"
CONTEXT_WITHOUT_PHASE = "context: missing field 'phase'"
PHASE_NO_STRING = "context.phase: expected a string"


def no_install(kind: str) -> str:
    return f"prepare_commit must return a function that installs the commit, and it returned {kind}"


def empty_answer(op: str) -> str:
    return f"{op} takes no empty answer: give a text that is not blank"


def foreign_answer(op: str, problem: str) -> str:
    return f"{op} takes text: {problem}"


def answer_no_text(kind: str) -> str:
    return f"an answer is a string, and the host gave {kind}"


def unknown_choice(op: str, choices: Sequence[str]) -> str:
    return f"{op}: the answer must match one of the choices: {listed(choices)}"


def no_choices(op: str) -> str:
    return f"{op} needs at least one choice"


def no_time(op: str, ms: int) -> str:
    return f"{op}: the time to answer is more than 0 milliseconds, and the script gave {ms}"


def nobody_answered(op: str, waited_ms: int | None) -> str:
    return f"{op}: nobody answered" if waited_ms is None else f"{op}: nobody answered within {waited_ms} ms"


def module_state(name: str) -> str:
    return (
        f"the run wrote to what `{name}` holds, and this session is stored: only its state is, "
        "and what a definition of the top level holds begins anew each time. Put it into the state"
    )


# -- steps that are repeated from their record (live.md section D.1)

NOT_APPROVED = "Not run: the call is not the one that was approved."
INTERRUPTED = "interrupted: it had begun when the process ended, and nobody knows whether it took effect"


def not_recordable(op: str, problem: str) -> str:
    return f"{op} cannot be recorded: {problem}"


def diverged(n: int, recorded: str, now: str) -> str:
    if recorded == now:
        return f"operation {n}, {now}, has other arguments than when it was recorded"
    return f"operation {n} was {recorded} when it was recorded, and is {now} now"


def fewer_operations(done: int, recorded: int) -> str:
    return f"the step has come to its end after {done} operations, and {recorded} are recorded"


def damaged_record(n: int, problem: str) -> str:
    return f"the recorded answer of operation {n} cannot be read: {problem}"


def answer_refused_in_replay(problem: str) -> str:
    return f"the recorded answer will not do any more: {problem}"


def diverged_twice(problem: str) -> str:
    return f"The step has diverged from its record for the second time: {problem}"


# -- instantiation (section 3.2)


def missing_binding(role: str, name: str) -> str:
    return f"Missing {role} binding '{name}': the script defines no such name at its top level"


def not_callable(name: str) -> str:
    return f"Entry point '{name}' is not callable"


# -- the durable moderator (sections 17 and 20)

BUSY_LOOP = (
    "The session is busy in a task of this event loop; waiting for it here would block it: await the async method"
)
SNAPSHOT_WHILE_SUSPENDED = "Cannot store a session while it is waiting for an answer; resume it or abandon the request"

# -- turns (sections 12 to 14)


def unexpected_decision(source: str, decision: str) -> str:
    return f"{source} returned an unexpected tool moderation action: {decision}; only a call under review takes one"


def too_many_self_triggered_turns(limit: int) -> str:
    return f"Exceeded maximum consecutive moderator-requested turns ({limit})."


def ended_by_moderator(reason: str) -> str:
    """The output of a call that an ended session does not run, and the notice of the end: data, not wording."""
    return f"Session ended by moderator: {reason}"


def asynchronous_approval() -> str:
    return "The approval provider is asynchronous; use the a-prefixed methods of the driver"


def foreign_model_item(position: int, problem: str) -> str:
    return f"item {position} of the model client's response is not a provider item: {problem}"


def foreign_response(kind: str) -> str:
    return f"the model client answered with a Python `{kind}`; expected an iterable of provider items, or an async one"


def foreign_output(tool: str, problem: str) -> str:
    return f'the tool "{tool}" answered with something that is not JSON: {problem}'


def foreign_arguments(tool: str, problem: str) -> str:
    return f'The arguments of the tool "{tool}" {problem}. Write them as a JSON object'


def unknown_tool(name: str, known: Iterable[str]) -> str:
    return f'Unknown tool "{name}"; known: {listed(known) or "none"}'


def tool_timed_out(name: str, limit_ms: int | None) -> str:
    return f'The tool "{name}" did not answer within {limit_ms} ms'


BUSY_CONTROLLER = "The controller is at work already; submit, and it will see to it"
CLOSED_CONTROLLER = "The controller was closed before the question was answered"
UNANSWERED_CALL = "No output: the run failed before this tool call was answered."
BUSY_CONVERSATION = "The conversation is running already; await its run, or steer it"


# -- asynchronous work (section 16)

NO_EVENT_LOOP = (
    "No event loop runs here that could do work in the background; give one, such as that of a BackgroundLoop"
)


def too_many_jobs(op: str, limit: int) -> str:
    return f"{op}: exceeded maximum spawned job limit: {limit} are in flight"


def too_many_timers(op: str, limit: int) -> str:
    return f"{op}: this host keeps at most {limit} timers"


def host_closed(op: str) -> str:
    return f"{op}: the host has closed"


BUSY_BACKGROUND = "This is the thread of the background loop itself; await the coroutine instead"
CLOSED_BACKGROUND = "The background loop is closed; nothing runs in it any more"
