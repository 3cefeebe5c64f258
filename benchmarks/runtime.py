"""What a session costs: events that commit, fail or suspend; the journal; task nodes a second.

Run `python benchmarks/runtime.py` in the project. Times are processor time, the best of several rounds.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

import chatml
from chatml_runtime import HandlerError, Handlers, OpRegistry, Session, compile_script

SCRIPT = """
let big = Array.make(100000, 0)
let rec chain n = if n == 0 then Task.pure(0) else Task.bind(Task.pure(n), fun x -> chain(x - 1))
let rec nest n task = if n == 0 then task else nest(n - 1, Task.bind(task, fun x -> Task.pure(x + 1)))
let rec count n = if n == 0 then 0 else count(n - 1)
let rec bump n cell = if n == 0 then () else (cell := !cell + 1; bump(n - 1, cell))
let initial_state = { small = [0, 0, 0, 0]; cell = ref(0) }
let on_event = fun ctx st ev ->
  match ev with
  | `Quiet -> Task.pure(st)
  | `Effect -> let* () = Turn.prepend_system("be brief") in Task.pure(st)
  | `Fail -> let* () = Turn.prepend_system("be brief") in Task.fail("no")
  | `Broken -> Task.pure({ st with small = [1 / 0] })
  | `Write -> st.small[0] <- 1; Task.pure(st)
  | `Write_fail -> st.small[0] <- 1; Task.fail("no")
  | `Big -> big[0] <- 1; Task.fail("no")
  | `Ask -> let* answer = Approval.ask_text("go on?") in Task.pure(st)
  | `Call -> let* r = Tool.call("t", `Null) in Task.pure(st)
  | `Chain(n) -> Task.map(chain(n), fun x -> st)
  | `Nest(n) -> Task.map(nest(n, Task.pure(0)), fun x -> st)
  | `Count(n) -> let done_ = count(n) in Task.pure(st)
  | `Bump(n) -> bump(n, st.cell); Task.pure(st)
  | _ -> Task.pure(st)
"""
CONTEXT = {
    "session_id": "s",
    "now_ms": 0,
    "phase": "turn_start",
    "items": [],
    "available_tools": [],
    "session_meta": ("Null",),
}
NODES = 300_000


def best(action: Callable[[], object], count: int, rounds: int = 15) -> float:
    """Microseconds of processor time for one call of an action: the best round of several, each of so many calls."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        for _ in range(count):
            action()
        times.append((time.process_time() - start) / count * 1e6)
    return min(times)


def delivery(session: Session, *event: object) -> Callable[[], None]:
    """An action that delivers an event, and takes a failure as it comes."""

    def action() -> None:
        with contextlib.suppress(HandlerError):
            session.handle_event(CONTEXT, event)
        session.take_committed()

    return action


def question(session: Session) -> Callable[[], None]:
    """An action that delivers an event which asks, and answers it."""

    def action() -> None:
        session.handle_event(CONTEXT, ("Ask",))
        session.resume("yes")

    return action


def main() -> None:
    script = compile_script(SCRIPT, surface=chatml.UI_MODERATOR)
    handlers = Handlers(tool_call=lambda context, name, args: ("Ok", args))
    session = script.instantiate(OpRegistry.standard(handlers))
    rows = [
        ("an event that does nothing", delivery(session, "Quiet"), 500),
        ("an event with one effect, committed", delivery(session, "Effect"), 500),
        ("the same, rolled back by Task.fail", delivery(session, "Fail"), 500),
        ("rolled back by a runtime failure", delivery(session, "Broken"), 500),
        ("a write to a small array, committed", delivery(session, "Write"), 500),
        ("the same, rolled back", delivery(session, "Write_fail"), 500),
        ("a write to 100,000 elements, rolled back", delivery(session, "Big"), 50),
        ("a tool call", delivery(session, "Call"), 500),
        ("a question and its answer", question(session), 300),
        ("1,000 calls that write nothing", delivery(session, "Count", 1000), 50),
        ("1,000 calls that write a ref", delivery(session, "Bump", 1000), 50),
    ]
    for name, action, count in rows:
        print(f"{name:42} {best(action, count):10.1f} µs")
    for name, tag in (("chained", "Chain"), ("nested to the left", "Nest")):
        seconds = best(delivery(session, tag, NODES), 1, rounds=5) / 1e6
        print(f"{f'{NODES:,} binds, {name}':42} {NODES / seconds:10,.0f} binds/s")


if __name__ == "__main__":
    main()
