"""Traps of statements, definitions and parameters."""

from __future__ import annotations

from chatml.syntax.parse.traps.trap import FIELD_NAME, FUNCTION, KEYWORDS, PARAMETERS, STATEMENT, Trap, struct_is_open

ANNOTATE_FUNCTION = "annotate the whole function: `let f : int -> string -> bool = fun x y -> ...`"
SIDE_BY_SIDE = "write `let f x y = ...` or `fun x y -> ...`; calls have parentheses: `f(x, y)`"

STATEMENTS = (
    Trap(
        "syntax.semicolon_between_statements",
        "`;` does not separate statements",
        "statements follow each other with nothing between them; for one statement of several steps write"
        " `let u = a; b` or `(a; b)`",
        found=";",
        context=rf"{STATEMENT}( E)?|type names = T",
    ),
    Trap(
        "syntax.missing_rec",
        "`and` joins the bindings of a `let rec`",
        "write `let rec f x = ... and g y = ...`; bindings that do not need each other are `let`s of their own",
        found="and",
        context="let (binding|names .*)",
        at="let",
        label="this has no `rec`",
    ),
    Trap(
        "syntax.type_in_module",
        "a `type` cannot be declared inside a module",
        "move it to the top level, before the module: its name is known everywhere after it",
        found="type",
        when=struct_is_open,
        at="struct",
        label="the module's body begins here",
    ),
    Trap(
        "syntax.module_path",
        "a module inside a module cannot be reached by a path",
        "`open` the outer module; then the inner one is known by its name",
        found="UIDENT",
        context=r"E \.",
        back=r"\b[A-Z]\w*\s*\.\s*",
    ),
    Trap(
        "syntax.module_path",
        "`open` takes the name of one module, not a path",
        "`open` the outer module first, then the inner one",
        found=".",
        back=r"\bopen\s+[A-Z]\w*\s*",
    ),
    Trap(
        "syntax.name_case",
        "the name of a module begins with an upper-case letter",
        found="LIDENT",
        context="module|open",
    ),
    Trap(
        "syntax.let_pattern",
        "`let` binds one plain name, not a pattern",
        "to run something for its effect, write it as a statement, or bind a name that says so: `let _unused = ...`",
        found="_ (",
        context="let( rec)?|bindings and",
    ),
    Trap(
        "syntax.let_pattern",
        "`let` binds one plain name, not a pattern",
        "bind the whole, then take its parts with `.field`, an index or `match`",
        found="{ [ INT FLOAT STRING TAG BOOL",
        context="let( rec)?|bindings and",
    ),
    Trap(
        "syntax.let_pattern",
        "`let*` and `let+` bind one plain name or `()`",
        "`let* () = task in ...` ignores the result",
        found="_ { [ INT STRING TAG LIDENT",
        context=r"TASKLET( \()?",
    ),
    Trap(
        "syntax.name_case",
        "`$found` begins with an upper-case letter, which only the name of a module does",
        found="UIDENT",
        place="name",
    ),
    Trap(
        "syntax.name_case",
        "`$before` begins with an upper-case letter, which only the name of a module does",
        found="=",
        context=r"(\{|fields ;) E",
        back=r"\b[A-Z]\w*\s*",
    ),
    Trap(
        "syntax.keyword_as_name",
        "`$found` is a keyword, so it cannot be a name",
        "choose another name, such as `${found}_`",
        found=KEYWORDS,
        place="name",
        context=r"let|rec|and|fun|names|E \.|type|;|with|\{|\(",
    ),
    Trap(
        "syntax.keyword_as_name",
        "`$found` is a keyword, so it cannot be the name of a field",
        "choose another name, such as `${found}_`",
        found=KEYWORDS,
        context=r"\{",
        ahead=r"\w+\s*[=:](?!=)",
    ),
    Trap(
        "syntax.keyword_as_name",
        "`$before` is a keyword, so it cannot be the name of a field",
        "choose another name, such as `${before}_`",
        found="=",
        context=r"(\{|;) (ref|if|while|match|fun|let)",
    ),
)

DEFINITIONS = (
    Trap(
        "syntax.parameter",
        "a parameter is a plain name, and `_` is none",
        "give it a name that says that it is not used: `_x`",
        found="_",
        context=PARAMETERS,
    ),
    Trap(
        "syntax.parameter",
        "a `fun` without parameters has `()`",
        "write `fun () -> ...`",
        found="->",
        context="fun",
    ),
    Trap(
        "syntax.parameter",
        "`()` is not one parameter among others: it stands where a function has none",
        "leave it out, or give the parameter a name",
        found="(",
        context=PARAMETERS,
        ahead=r"\(\s*\)",
    ),
    Trap(
        "syntax.annotated_parameter",
        "a parameter has no annotation",
        ANNOTATE_FUNCTION,
        context=rf"{PARAMETERS} \(",
        ahead=r"\w+\s*:",
    ),
    Trap(
        "syntax.annotated_parameter",
        "a parameter has no annotation",
        ANNOTATE_FUNCTION,
        found="(",
        context=PARAMETERS,
        ahead=r"\(\s*\w+\s*:",
    ),
    Trap(
        "syntax.parameter",
        "parameters stand side by side, without parentheses and commas",
        SIDE_BY_SIDE,
        context=rf"{PARAMETERS} \(",
    ),
    Trap(
        "syntax.parameter",
        "parameters stand side by side, without parentheses and commas",
        SIDE_BY_SIDE,
        found="( ,",
        context=PARAMETERS,
    ),
    Trap(
        "syntax.parameter",
        "a parameter is a plain name, not a pattern",
        "take the argument apart in the body, with `.field` or `match`",
        found="{ [ INT FLOAT STRING TAG BOOL",
        context=PARAMETERS,
    ),
    Trap(
        "syntax.annotated_parameter",
        "neither a parameter nor the result of a function has an annotation of its own",
        ANNOTATE_FUNCTION,
        found=":",
        context=rf"fun (names|params)|{FUNCTION}",
    ),
    Trap(
        "syntax.definition_sign",
        "after the parameters of a `fun` comes `->`",
        "`=` belongs to `let`",
        found="=",
        context="fun (names|params)",
    ),
    Trap(
        "syntax.definition_sign",
        "a definition has `=`, not `$found`",
        "`==` compares, `:=` sets a reference, `->` belongs to `fun`",
        found="== := -> <-",
        context=rf"(let|rec|and|type) names|{FUNCTION}|TASKLET names|module module_name|{FIELD_NAME}",
    ),
    Trap(
        "syntax.annotation",
        "an annotation stands before the `=`",
        "write `let x : int = 1`",
        found=":",
        context="(let|rec|and) names = E",
    ),
)
