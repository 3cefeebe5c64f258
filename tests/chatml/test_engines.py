"""Both engines do the same: values, output, failures and their places (docs/decisions.md, values and engines)."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import chatml
from chatml.engines.walk import Walker
from chatml.pipeline import EngineName
from tests.chatml.cases import Case, read_corpus
from tests.chatml.observe import Outcome, observe, seen
from tests.chatml.programs import programs

LIMITS = chatml.Limits(steps=100_000, text=100_000)
PROGRAMS = [case for case in read_corpus() if case.fails is None or case.fails.kind == "runtime"]


@pytest.mark.parametrize("case", PROGRAMS, ids=lambda case: case.id)
def test_the_corpus(case: Case) -> None:
    walked = observe(case.program, surface=case.surface, engine="walk")
    assert seen(observe(case.program, surface=case.surface)) == seen(walked)
    assert seen(observe(case.program, surface=case.surface, journaled=True)) == seen(walked)


@given(programs())
@settings(max_examples=400)
def test_generated_programs(program: str) -> None:
    """Whatever a well-typed program does, both engines do."""
    walked = observe(program, limits=LIMITS, engine="walk")
    assert seen(observe(program, limits=LIMITS)) == seen(walked)
    if walked.error is None or walked.error.code != "runtime.limit":
        assert seen(observe(program)) == seen(walked)


ENGINES: list[EngineName] = ["walk", "compiled"]

ARMS = {
    "one tag": "| `A -> 1 | _ -> 0",
    "one tag with a payload": "| `A(x) -> 1 | _ -> 0",
    "tags": "| `A -> 1 | `B(1, true) -> 2 | `B(0, y) -> 3 | _ -> 0",
    "nested tags": '| `B(`A(x), `A) -> 1 | `B(`B(1.0, "A"), y) -> 2 | _ -> 0',
    "records": "| `A({ a = 1 }) -> 1 | `B({ a = x; _ }, y) -> 2 | _ -> 0",
    "no last arm": "| `A -> 1 | `B(x, ()) -> 2",
}
PARTS = st.recursive(
    st.sampled_from([None, True, False, 0, 1, 1.0, 0.0, "A", "", "AB", ("A",), ("B",)]),
    lambda part: st.one_of(
        st.lists(part, max_size=3),
        st.dictionaries(st.sampled_from("ab"), part, max_size=2),
        st.tuples(st.sampled_from("AB"), part),
        st.tuples(st.sampled_from("AB"), part, part),
    ),
    max_leaves=6,
)
MATCHES = [
    {engine: chatml.compile(f"let f = fun v -> match v with {arms}").run(engine=engine) for engine in ENGINES}
    for arms in ARMS.values()
]


@given(PARTS)
@settings(max_examples=500)
@example("A")
@example(["A", "x"])
@example(("A", {"a": True}))
@example(3)
@example(("B", True, True))
def test_a_match_of_any_value(value: object) -> None:
    """A value of any kind matches the same arms in both engines, or none; hosts deliver events of any kind."""
    for instances in MATCHES:
        walked, compiled = (arm_of(instances[engine], value) for engine in ENGINES)
        assert compiled == walked


def arm_of(instance: chatml.Instance, value: object) -> object:
    try:
        return instance.call("f", value)
    except chatml.RuntimeFailure as failure:
        return failure.message, str(failure.span)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("program", "printed"),
    [
        ("let rec f n = if n == 0 then 0 else 1 + f(n - 1)", "200000"),
        ("let rec f n = match n with | 0 -> 0 | _ -> let m = f(n - 1) in m + 1", "200000"),
        ("let rec f n = if n == 0 then 0 else { v = g(n) }.v + 1 and g n = f(n - 1)", "200000"),
    ],
)
def test_deep_recursion(engine: EngineName, program: str, printed: str) -> None:
    depth = chatml.Limits(depth=500_000)
    assert observe(f"{program}\nprint(f(200000))", limits=depth, engine=engine).printed == (printed,)


@pytest.mark.parametrize("again", ["Array.map([n - 1], f)[0] + 1", "Array.fold([n - 1], 1, fun sum x -> sum + f(x))"])
def test_recursion_through_an_array_is_as_deep(again: str) -> None:
    program = f"let rec f n = if n == 0 then 0 else {again}\nprint(f(199990))"
    assert observe(program).printed == ("199990",)


@pytest.mark.parametrize(
    "again",
    [
        "Array.map([n - 1], !s)[0] + 1",
        "(let h = !s in Array.map([n - 1], h))[0] + 1",
        "Array.fold([n - 1], 1, fun sum x -> sum + (!s)(x))",
    ],
)
def test_recursion_through_a_stored_function_is_as_deep(again: str) -> None:
    program = f"let s = ref(fun n -> 0)\nlet f n = if n == 0 then 0 else {again}\ns := f\n"
    assert observe(f"{program}print(f(50000))").printed == ("50000",)
    assert chatml.compile(program).run().call("f", 50_000) == 50_000


@pytest.mark.parametrize(
    "program",
    [
        "let call g n = g(n) let rec f n = if n == 0 then 0 else 1 + call(f, n - 1)",
        "let rec f n = if n == 0 then 0 else (let g = fun m -> 1 + f(m) in g(n - 1))",
        "let rec f n = if n == 0 then 0 else (match `T(fun () -> f(n - 1)) with | `T(k) -> 1 + k())",
        "let m = Array.map let rec f n = if n == 0 then 0 else 1 + m([n - 1], f)[0]",
        "let a = Array let rec f n = if n == 0 then 0 else 1 + a.map([n - 1], f)[0]",
        "let m = Array.fold let rec f n = if n == 0 then 0 else m([n - 1], n, fun n x -> let _x = f(x) in n)",
        "let rec f n = if n == 0 then 0 else 1 + Option.get_or(Array.find([n - 1], fun x -> f(x) >= 0), 0)",
    ],
)
def test_recursion_by_any_way_is_as_deep(program: str) -> None:
    instance = chatml.compile(program).run(limits=chatml.Limits(depth=20_000))
    assert instance.call("f", 19_990) == 19_990


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("after", ["", " + 1"])
def test_many_functions_may_call_each_other_without_recursion(engine: EngineName, after: str) -> None:
    chain = "let f0 x = x\n" + "".join(f"let f{n + 1} x = f{n}(x){after}\n" for n in range(2_000))
    printed = observe(f"{chain}print(f2000(0))", engine=engine).printed
    assert printed == ("2000" if after else "0",)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "program",
    [
        "let rec f n = if n == 0 then true else g(n - 1) and g n = if n == 0 then false else f(n - 1)",
        "let call k n = k(n) let rec f n = if n == 0 then true else call(f, n - 1)",
        "let rec f n = n == 0 || f(n - 1)",
        "let rec f n = n == 0 || (n > 0 && g(n)) and g n = f(n - 1)",
        "let step = ref(fun n -> true) let f n = if n == 0 then true else (!step)(n - 1) step := f",
        "module M = struct let rec f n = if n == 0 then true else f(n - 1) end let f n = M.f(n)",
    ],
)
def test_tail_calls_take_no_stack(engine: EngineName, program: str) -> None:
    few = chatml.Limits(depth=1_000)
    assert observe(f"{program}\nprint(f(20000))", limits=few, engine=engine).printed == ("true",)


ENDLESS = [
    ("let rec f n = g(n) and g n = f(n)", "f(0)"),
    ("let call k n = k(n) let rec f n = call(f, n)", "f(0)"),
    ("let rec f n = f(n)", "f(0)"),
]


@pytest.mark.parametrize(("program", "call"), ENDLESS)
def test_a_bound_on_steps_names_the_call_that_went_beyond_it(program: str, call: str) -> None:
    walked = observe(f"{program}\nprint({call})", limits=chatml.Limits(steps=1_000), engine="walk")
    assert walked.error is not None
    assert walked.error.span is not None
    assert walked.error.span.start.line == 1
    assert seen(observe(f"{program}\nprint({call})", limits=chatml.Limits(steps=1_000))) == seen(walked)


KINDS = ["1", "1.5", "true", '"s"', "()", "[1]", "ref(1)", "{ q = 1 }", "`A(1)", "`A", "fun x -> x", "print", "Option"]
USES = [
    *["x * 4611686018427387903", "x + 1", "-x", "x /. 2.0", 'x ++ "s"', "x < 1", "x[0]", "x[0] <- 1", "x := 1", "!x"],
    *["x(1)", "x.q", "{ x with q = 2 }", "match x with | `A -> 1 | `B -> 2", "match x with | `A(y) -> y", "[1][x]"],
    *["match x with | { q = y } -> y", "match x with | { q = y; _ } -> y", "match x with | 1 -> 1 | _ -> 2"],
    *["if x then 1 else 2", "x == 7", "x && true", "String.length(x)", "record_keys(x)", "Task.bind(x, x)", "fail(x)"],
]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("use", USES)
def test_values_of_another_kind_than_their_type_fail_at_worst(engine: EngineName, use: str) -> None:
    """What a helper passes on keeps its type, so the host sees problems and failures of the script only."""
    for kind in KINDS:
        program = f"""let update r = let n = r.name in {{ r with extra = 1 }}
let x = update({{ name = "a"; x = ({kind}) }}).x
print({use})"""
        observe(program, engine=engine)
        observe(program, engine=engine, journaled=True)


@pytest.mark.parametrize("use", USES)
def test_values_of_another_kind_are_the_same_to_both_engines(use: str) -> None:
    for kind in KINDS:
        program = f"""let update r = let n = r.name in {{ r with extra = 1 }}
let x = update({{ name = "a"; x = ({kind}) }}).x
print({use})"""
        assert seen(observe(program, engine="walk")) == seen(observe(program, engine="compiled")), kind


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("depth", [1, 10, 999, 1_000, 20_000])
def test_recursion_stops_at_the_limit(engine: EngineName, depth: int) -> None:
    program = "let rec f n = 1 + f(n + 1)\nprint(f(0))"
    error = observe(program, limits=chatml.Limits(depth=depth), engine=engine).error
    assert error is not None
    assert error.code == "runtime.limit"
    assert "`depth`" in error.message
    assert f"{depth:,}" in error.message


def test_a_small_depth_is_counted_exactly() -> None:
    program = "let rec f n = if n == 0 then 0 else 1 + f(n - 1)\nprint(f({}))"
    limits = chatml.Limits(depth=50)
    assert observe(program.format(49), limits=limits).printed == ("49",)
    assert observe(program.format(50), limits=limits).error is not None


def test_a_match_of_a_choice_evaluates_what_it_chooses() -> None:
    program = """
let say text = let _said = print(text) in text
let one b = match (if b then `Some(say("some")) else `None) with | `Some(_) -> 1 | `None -> 2
let two b = match (if b then `Two(say("a"), say("b")) else `None) with | `Two(_, x) -> x | `None -> say("none")
let same b = match (if b then `A(say("x")) else `A(say("y"))) with | `A(x) -> x | `B -> "b"
let nested b = match (if b then `A(`Some(1)) else `B) with | `A(`None) -> 0 | `A(`Some(n)) -> n | _ -> 2
print([one(true), one(false), nested(true), nested(false)])
print([two(true), two(false), same(true), same(false)])
"""
    for engine in ENGINES:
        printed = observe(program, engine=engine).printed
        assert printed == ("some", "[|1, 2, 1, 2|]", "a", "b", "none", "x", "y", "[|b, none, x, y|]")


def test_closures_made_in_a_loop_keep_the_values_of_their_turn() -> None:
    program = """
let made = Array.make(3, fun () -> 0)
let i = ref(0)
while !i < 3 do let turn = !i in made[turn] <- (fun () -> turn); i := turn + 1 done
let rec collect n kept = if n == 0 then kept else collect(n - 1, Array.append(kept, [fun () -> n]))
print(Array.map(made, fun f -> f()))
print(Array.map(collect(3, []), fun f -> f()))
"""
    for engine in ENGINES:
        assert observe(program, engine=engine).printed == ("[|0, 1, 2|]", "[|3, 2, 1|]")


def test_a_script_too_deep_for_the_compiler_is_walked() -> None:
    program = chatml.compile(f"let f x = x\nlet n = {'f(' * 400}1{')' * 400}")
    assert isinstance(program.run().machine, Walker)
    assert program.run()["n"] == 1


def test_generated_code_has_no_builtins_of_python() -> None:
    instance = chatml.compile("let f x = x").run()
    assert instance["f"].__globals__["__builtins__"] == {}


def test_a_host_function_needs_no_hash() -> None:
    class Twice:
        __hash__ = None  # type: ignore[assignment]

        def __call__(self, number: int) -> int:
            return number * 2

    twice = chatml.Builtin("twice", chatml.Fun([chatml.Int], chatml.Int), Twice())
    program = chatml.compile("let f n = twice(n)", surface=chatml.Surface(globals=(twice,)))
    assert [program.run(engine=engine).call("f", 4) for engine in ENGINES] == [8, 8]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("chain", "printed", "part"),
    [
        ('say("ab") ++ say("cde") ++ say("f")', ("ab", "cde"), 'say("ab") ++ say("cde")'),
        ('say("ab") ++ "c" ++ "d" ++ "e" ++ "f"', ("ab",), 'say("ab") ++ "c" ++ "d" ++ "e"'),
        ('"ab" ++ say("c") ++ "d" ++ say("e") ++ say("f")', ("c", "e"), '"ab" ++ say("c") ++ "d" ++ say("e")'),
        ('(let s = ref("ab") in s := !s ++ say("c") ++ "de" ++ say("f"); !s)', ("c",), '!s ++ say("c") ++ "de"'),
        ('(let s = ref("ab") in s := !s ++ say("c") ++ !s; !s)', ("c",), '!s ++ say("c") ++ !s'),
        ('(let rec f s = f(s ++ "c" ++ "d") in f("ab"))', (), 's ++ "c"'),
        (
            'Array.fold(["c", "de"], "ab", fun s x -> s ++ say(x) ++ "")',
            ("c", "de"),
            'Array.fold(["c", "de"], "ab", fun s x -> s ++ say(x) ++ "")',
        ),
    ],
)
def test_a_bound_on_sizes_stops_a_chain_where_it_is_exceeded(
    engine: EngineName, chain: str, printed: tuple[str, ...], part: str
) -> None:
    program = f"let say s = let _said = print(s) in s\nprint({chain})"
    outcome = observe(program, limits=chatml.Limits(text=4), engine=engine)
    assert outcome.printed == printed
    assert text_of(outcome, program) == part


def text_of(outcome: Outcome, program: str) -> str:
    """The text at the place of a failure."""
    assert outcome.error is not None
    assert outcome.error.span is not None
    return program[outcome.error.span.start.offset : outcome.error.span.end.offset]


@pytest.mark.parametrize("engine", ENGINES)
def test_the_call_of_a_stored_function_is_the_place_of_its_failure(engine: EngineName) -> None:
    program = "let r = ref(fun n -> n)\nlet g n = (!r)(n) + 1\nprint(g(1))"
    outcome = observe(program, limits=chatml.Limits(steps=1), engine=engine)
    assert text_of(outcome, program) == "(!r)(n)"


@pytest.mark.parametrize("part", ["let a = s in ", "if s == 0 then 1 else ", "(); "])
def test_a_new_value_for_a_parameter_may_be_a_long_chain(part: str) -> None:
    program = f"let rec f n s = if n == 0 then s else f(n - 1, ({part * 20_000}s + 1))\nprint(f(2, 1))"
    assert observe(program).printed == ("3",)


def raising(error: Exception) -> chatml.Builtin:
    def fail(text: str) -> int:
        raise error

    return chatml.Builtin("host", chatml.Fun([chatml.String], chatml.Int), fail)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("steps", [None, 1_000])
@pytest.mark.parametrize("program", ['let n = host("xx") + 1', 'let f t = host(t)\nf("xx")', 'let h = host\nh("xx")'])
@pytest.mark.parametrize(
    ("builtin", "message"),
    [
        (raising(StopIteration("over")), "host: over"),
        (raising(KeyError("k")), "host: 'k'"),
        (raising(TypeError("no")), "host: no"),
        (chatml.Builtin("host", chatml.Fun([chatml.String], chatml.Int), "abc".index), "host: substring not found"),
        (chatml.Builtin("host", chatml.Fun([chatml.String], chatml.Int), {}.__getitem__), "host: 'xx'"),
        (chatml.Builtin("host", chatml.Fun([chatml.String], chatml.Int), ord), "host: ord() expected a character, but"),
    ],
)
def test_whatever_a_host_function_raises_is_told_as_its_failure(
    engine: EngineName, steps: int | None, program: str, builtin: chatml.Builtin, message: str
) -> None:
    script = chatml.compile(program, surface=chatml.Surface(globals=(builtin,)))
    with pytest.raises(chatml.RuntimeFailure) as raised:
        script.run(engine=engine, limits=chatml.Limits(steps=steps))
    assert raised.value.code == "runtime.host"
    assert raised.value.message.startswith(message)
