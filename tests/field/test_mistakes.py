"""What people write who come from other languages: the message alone says where it is and what to write instead."""

from __future__ import annotations

import pytest

import chatml
from chatml.types.guided import STANDARD

HEAD = "let initial_state = { count = 0 }\nlet on_event ctx st ev =\n  match ev with\n"
LAST = "\n  | _ -> Task.pure(st)\n"


def arm(body: str) -> str:
    """A handler with an arm for calls, whose body begins in line 5."""
    return f"{HEAD}  | `Pre_tool_call(call) ->\n    {body}{LAST}"


MISTAKES = {
    "steps without a joint": (arm('Tool.reject("no")\n    Task.pure(st)'), "let* () = task in ..."),
    "return": (arm("return Task.pure(st)"), "no `return`"),
    "await": (arm("await Tool.approve()"), "no `await`"),
    "dropped task": (arm('Tool.reject("x"); Task.pure(st)'), 'let* () = Tool.reject("x") in'),
    "let _ of a task": (arm('let _ = Tool.reject("x") in Task.pure(st)'), "let* () = task in"),
    "let () of a task": (arm('let () = Tool.reject("x") in Task.pure(st)'), "let* () = task in"),
    "body in lines": ("let f x =\n  print(x)\n  x + 1", "line 3 is a statement of its own: end line 2 with `;`"),
    "state without a task": (arm("let* () = Tool.approve() in st"), "Task.pure(st)"),
    "field of JSON": (arm("print(call.args.path); Task.pure(st)"), 'Tool_call.arg_string(call, "path")'),
    "method": (arm('print(call.name.startswith("x")); Task.pure(st)'), "String.starts_with"),
    "decision as the state": (arm("Tool.approve()"), "let+ () = Tool.approve() in st"),
    "lone argument": ('let n = String.length "abc"', 'String.length("abc")'),
    "list by semicolons": ("let xs = [1; 2; 3]", "separated by `,`"),
    "map without parentheses": ("let ys = Array.map (fun x -> x + 1) [1, 2]", "a call has parentheses"),
    "concat without parentheses": ('let s = String.concat ", " ["a", "b"]', "a call has parentheses"),
    "for": ("for i = 0 to 3 do print(i) done", "no `for`"),
    "for in a function": ("let f () =\n  for i = 0 to 3 do print(i) done", "no `for`"),
    "raise": ('let f x = raise (Failure "x")', "fail(message)"),
    "assigned field": (arm("st.count = st.count + 1"), "{ r with count = ... }"),
    "assigned field of a record": ('let p = { name = "a" }\np.name = "Bob"', "let r = { r with name = ... }"),
    "template": ("let s = `hello ${1}`", "double quotes"),
    "module of a larger surface": ("let f s = Approval.ask_text(s)", "--surface ui"),
    "bind operator": ("let f t = t >>= fun () -> Task.pure(1)", "let* x = task in"),
    "pipe in an arm": (arm("Task.pure(st) |> ignore"), "`|>` is not an operator"),
    "misspelt field": (arm("let n = st.cuont in Task.pure({ st with count = n })"), "`st` has no field `cuont`"),
    "misspelt update": (arm("Task.pure({ st with cuont = 1 })"), "did you mean `count`"),
    "mutable": ("type t = { mutable x : int }", "no `mutable`"),
    "let in at the top": ("let x = 5 in print(x)\nlet y = x + 1", "written without `in`"),
    "type of an event": (HEAD.replace("match ev with\n", 'if ev.type == "x" then st else st'), "match ev with"),
    "then": ("let f t = t.then(fun x -> x)", "let* x = task in"),
    "decision not called": (arm("let+ () = Tool.approve in st"), "call it: `Tool.approve()`"),
    "export with a capital": (arm("let+ () = Tool.Approve() in st"), "write `approve`"),
    "f-string": ('let x = 1\nlet s = f"no {x}"', "joined with `++`"),
    "index of JSON": (arm('print(call.args["path"]); Task.pure(st)'), 'Tool_call.arg_string(call, "path")'),
    "in": (arm('if "rm" in call.name then Task.pure(st) else Task.pure(st)'), "String.contains(text, part)"),
    "result of a call": (
        arm('let* r = Tool.call("x", `Null) in let* () = Tool.reject(r) in Task.pure(st)'),
        "match r with",
    ),
    "do!": ("let f x = do! x; return 1", "let* () = task in"),
    "join": ('let f xs = String.join(xs, ",")', "Text.join(parts, separator)"),
    "argument of an export": (arm('let* () = Tool.reject "no" in Task.pure(st)'), 'Tool.reject("no")'),
    "two arguments": ("let f a b = a + b\nlet x = f 1 2", "f(1, 2)"),
    "three arguments in a call": ('print(f 1 "two" x)', 'f(1, "two", x)'),
    "two updates": ("let f st c = if c then { st with a = 1 } else { st with b = 1 }\nlet g st = f(st, true)", None),
}
"""What is written, and what the first report has to say; None where the script is right."""


@pytest.mark.parametrize("name", MISTAKES)
def test_the_message_says_the_cure(name: str) -> None:
    text, said = MISTAKES[name]
    surface = chatml.MODERATOR if "Approval" in text else chatml.UI_MODERATOR
    found = chatml.check(text, surface=surface, entrypoints=STANDARD)
    if said is None:
        assert found == ()
        return
    assert said in str(found[0])


PLACES = {"steps without a joint": 6, "return": 5, "await": 5}


@pytest.mark.parametrize("name", PLACES)
def test_what_ended_an_arm_is_labelled(name: str) -> None:
    (report,) = chatml.check(MISTAKES[name][0], surface=chatml.UI_MODERATOR)
    assert [label.span.start.line for label in report.labels] == [PLACES[name]]


RIGHT = [
    "let f a b = a || b",
    'let f x = match x with | 1 -> "a" | _ -> "b"\nlet y = f(1)',
    "let xs = [[1], [2]]\nlet y = xs [0]",
    "let f r = if r.a == 1 then r.a else 2",
]


@pytest.mark.parametrize("text", RIGHT)
def test_what_is_right_is_left_alone(text: str) -> None:
    assert chatml.check(text) == ()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("let f a b = a | b", "syntax.foreign_operator"),
        ("let f r = if r.a = 1 then 1 else 2", "syntax.equality_sign"),
        ("let y = f([1, 2)", "syntax.wrong_bracket"),
    ],
)
def test_other_traps_stay(text: str, code: str) -> None:
    assert chatml.check(text)[0].code == code
