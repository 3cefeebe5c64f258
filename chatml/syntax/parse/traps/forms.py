"""Traps of patterns and types that are written as in other languages."""

from __future__ import annotations

from chatml.syntax.parse.traps.trap import Trap

FORMS = (
    Trap(
        "syntax.missing_backtick",
        "a tag begins with a backtick",
        "write `` `$found ``",
        found="UIDENT",
        place="pattern",
    ),
    Trap(
        "syntax.missing_backtick",
        "a tag begins with a backtick",
        "write `` `$found ``",
        found="UIDENT LIDENT",
        context=r"\[|case_types \|",
        place="other",
    ),
    Trap(
        "syntax.pattern_form",
        "there are no patterns for arrays",
        "match `length(xs)`, or index the array in the body",
        found="[",
        place="pattern",
    ),
    Trap(
        "syntax.pattern_form",
        "parentheses do not group patterns",
        "leave them out; `()` alone is the pattern of unit",
        context=r"(\||,|TAG \(|names =) \(",
        place="other",
    ),
    Trap(
        "syntax.pattern_form",
        "a pattern has no alternatives",
        "write an arm for each",
        found="|",
        context="P",
    ),
    Trap(
        "syntax.pattern_form",
        "an arm has no condition",
        "write an `if` in the body of the arm",
        found="when if",
        context="P",
    ),
    Trap(
        "syntax.pattern_form",
        "a pattern has no `as`",
        "match a name, and take it apart in the body",
        found="as",
        context="P",
    ),
    Trap(
        "syntax.type_form",
        "there are no tuple types",
        "use a record: `{ a : int; b : string }`",
        found="MULOP",
        context="T",
    ),
    Trap(
        "syntax.type_form",
        "the type of a reference cannot be written",
        "leave the annotation out: the type is inferred",
        found="ref",
        context="T",
    ),
    Trap(
        "syntax.type_form",
        "`()` is a value, not a type",
        "its type is written `unit`",
        found=")",
        context=r"(?<!TAG )\(",
        place="type",
    ),
    Trap(
        "syntax.type_form",
        "the name of a type begins with a lower-case letter",
        "the types are `int`, `float`, `bool`, `string`, `unit`, `t array` and `t task`",
        found="Int Integer Float Double Bool Boolean String Str Unit Array List Task Option Maybe Dict Map",
        place="type",
    ),
    Trap(
        "syntax.type_form",
        "what a type is of stands before it, without brackets",
        "an array of ints is an `int array`",
        found="[ <",
        context="T",
        line=False,
    ),
    Trap(
        "syntax.type_form",
        "the cases of a variant type stand in brackets",
        "write ``[ `A | `B(int) ]``",
        found="UIDENT TAG |",
        place="type",
    ),
    Trap(
        "syntax.type_form",
        "the cases of a variant type stand in brackets",
        "write ``[ `A | `B(int) ]``",
        found="|",
        context="type names = T",
    ),
    Trap(
        "syntax.type_form",
        "the first case of a variant type has no `|`",
        "delete it",
        found="|",
        context=r"\[",
    ),
    Trap(
        "syntax.tag_payload",
        "the arguments of a tag stand in parentheses",
        "write `` `A(int, string) ``",
        found="of",
        context="TAG",
    ),
)
