"""Imports point one way: from what is built on the language down to texts and places (docs/how-it-works.md)."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from tests.house import ModuleFile, environment, modules

MODULES = list(modules())
NAMES = {module.name for module in MODULES}

ROOMS = (
    ("chatml.lazy", "chatml.records", "chatml.stack"),
    ("chatml.source", "chatml.text_match"),
    ("chatml.diagnostics",),
    ("chatml.values",),
    ("chatml.border",),
    ("chatml.syntax",),
    ("chatml.types",),
    ("chatml.surfaces.model", "chatml.core"),
    ("chatml.engines",),
    ("chatml.builtins",),
    ("chatml.surfaces",),
    ("chatml.functions",),
    ("chatml.pipeline",),
    ("chatml.door", "chatml.sites", "chatml.trace"),
    ("chatml",),
    ("chatmd.report", "chatmd.nrchat"),
    ("chatmd.text", "chatmd.sources"),
    ("chatmd.elements",),
    ("chatmd.shell",),
    ("chatmd.document",),
    ("chatmd.loading",),
    ("chatmd.request",),
    ("chatmd.transcript",),
    ("chatmd.door",),
    ("chatmd",),
    ("chatml_runtime.script",),
    ("chatml_runtime.moderation",),
    ("chatml_runtime.host",),
    ("chatml_runtime.scenario",),
    ("chatml_runtime.replay", "chatml_runtime.testing"),
    ("chatml_runtime.door",),
    ("chatml_runtime",),
    ("chatml_shell.errors",),
    ("chatml_shell.plans", "chatml_shell.problems"),
    ("chatml_shell.chain", "chatml_shell.output", "chatml_shell.resolver", "chatml_shell.storage"),
    ("chatml_shell.audit", "chatml_shell.processes"),
    ("chatml_shell.backends",),
    ("chatml_shell.manifest",),
    ("chatml_shell.admin",),
    ("chatml_shell.authority",),
    ("chatml_shell.effects", "chatml_shell.tools"),
    ("chatml_shell.policy",),
    ("chatml_shell.approvals",),
    ("chatml_shell.live",),
    ("chatml_shell.executor", "chatml_shell.extensions"),
    ("chatml_shell.hooks",),
    ("chatml_shell.instantiate",),
    ("chatml_shell.registry",),
    ("chatml_shell.door",),
    ("chatml_shell",),
    ("chatml_tools",),
    ("chatml.__main__",),
)
"""The rooms from the ground up. A module may import its own room and those below; rooms of one floor stand alone."""

DOORS = ("chatml", "chatmd", "chatml_runtime", "chatml_shell")
"""Packages whose rooms are listed one by one: the bare name is the door alone."""

PROSE = set(DOORS)
"""Names of modules that are words as well: a string `"chatml"` is the name of a command more often than an import."""

LATE = {
    "chatml_tools": "a command is loaded when it is called",
    "chatmd.request.resources": "HTML needs an optional extra",
}
"""Where a module may be imported inside a function, and why."""

CHATMD_TAKES = {
    *("chatml.lazy", "chatml.records", "chatml.source", "chatml.stack"),
    *("chatml.diagnostics.errors", "chatml.diagnostics.model", "chatml.diagnostics.suggest"),
}
"""What documents take from the language: places, reports, errors. A document never compiles a script."""


def room(name: str) -> tuple[int, str]:
    """The floor of a module and its room: the longest name in the table that it begins with."""
    found = [
        (len(prefix), floor, prefix)
        for floor, prefixes in enumerate(ROOMS)
        for prefix in prefixes
        if name == prefix or (name.startswith(f"{prefix}.") and prefix not in DOORS)
    ]
    assert found, f"{name} has no room: give it one in {__file__}"
    _, floor, prefix = max(found)
    return floor, prefix


def imports(module: ModuleFile) -> Iterator[tuple[str, ast.AST, bool]]:
    """What a module imports: the name, the code that does it, and whether it stands inside a function.

    An import for type checking alone counts like any other, and so does one by string: a knot that hides in an
    annotation or in a name is a knot all the same.
    """
    tree = ast.parse(module.path.read_text(encoding="utf-8"))
    waiting: list[tuple[ast.AST, bool]] = [(tree, False)]
    while waiting:
        node, inside = waiting.pop()
        if isinstance(node, ast.Call) and ast.unparse(node.func).lstrip("_") == "lazy":
            yield ast.literal_eval(node.args[0]), ast.Expr(node), inside
        if isinstance(node, ast.Constant) and node.value in NAMES and node.value not in PROSE:
            yield str(node.value), ast.Expr(node), False
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node, inside
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module.name} imports relatively"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield whole if whole in NAMES else str(node.module), node, inside
        inside = inside or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        waiting += [(child, inside) for child in ast.iter_child_nodes(node)]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.name)
def test_imports_point_down(module: ModuleFile) -> None:
    floor, own = room(module.name)
    for name, _, _ in imports(module):
        if name in NAMES:
            below, other = room(name)
            assert below < floor or other == own, f"{module.name} imports {name}, which stands above or beside it"


def test_no_cycles() -> None:
    """Nor do the modules of one room import each other in a circle."""
    waiting = {module.name: {name for name, _, _ in imports(module) if name in NAMES} for module in MODULES}
    while waiting:
        ready = [name for name, needs in waiting.items() if not needs & waiting.keys()]
        assert ready, f"these import each other: {sorted(waiting)}"
        for name in ready:
            del waiting[name]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.name)
def test_no_import_inside_a_function(module: ModuleFile) -> None:
    if not module.name.startswith(tuple(LATE)):
        late = [ast.unparse(code) for _, code, inside in imports(module) if inside]
        assert late == []


def test_what_waits_exists() -> None:
    """A lazy import names a module that can be found."""
    late = {name for module in MODULES for name, code, _ in imports(module) if isinstance(code, ast.Expr)}
    assert late
    assert [name for name in sorted(late) if find_spec(name) is None] == []


def test_the_language_makes_its_records_itself() -> None:
    """One way to make records in a package: `chatml.records` in the language, attrs in what is built on it."""
    with_attrs = {module.name for module in MODULES for name, _, _ in imports(module) if name == "attrs"}
    assert {name.split(".")[0] for name in with_attrs} == {"chatmd", "chatml_runtime", "chatml_shell"}


@pytest.mark.parametrize(
    "module", [module for module in MODULES if module.name.startswith("chatmd")], ids=lambda module: module.name
)
def test_documents_never_compile(module: ModuleFile) -> None:
    taken = {name for name, _, _ in imports(module) if name in NAMES and name.split(".")[0] == "chatml"}
    assert taken <= CHATMD_TAKES


def test_runtime_meets_documents_in_one_module() -> None:
    meets = {
        module.name
        for module in MODULES
        if module.name.startswith("chatml_runtime")
        for name, _, _ in imports(module)
        if name.split(".")[0] == "chatmd"
    }
    assert meets <= {"chatml_runtime.moderation.documents"}


def test_lark_is_not_needed_to_run() -> None:
    """The parser generator builds the table ahead of time; a host never loads it."""
    program = (
        "import sys, chatml, chatmd, chatmd.nrchat, chatml_runtime\n"
        "chatml.compile('print(1 + 2)').run(print=lambda line: None)\n"
        "chatml.check('let x = ')\n"
        "assert 'lark' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], env=environment(), check=True, timeout=60)
