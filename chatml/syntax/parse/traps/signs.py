"""Traps of operators and other signs."""

from __future__ import annotations

from chatml.syntax.parse.traps.trap import Trap, another_is_open

SIGNS = (
    Trap(
        "syntax.assignment_arrow",
        "`<-` is one sign: it sets an array element",
        "a comparison with a negative number needs a blank: `a < -1`",
        found="<-",
        context="E",
        ahead=r"<-[\w(.]",
    ),
    Trap(
        "syntax.assignment_arrow",
        "only an array element stands before `<-`",
        "`a[i] <- v` sets an element, `r := v` a reference; a binding never changes",
        found="<-",
        context="E",
    ),
    Trap(
        "syntax.float_digits",
        "a float has digits on both sides of its point",
        "write `1.0`",
        context=r"E \.",
        back=r"(?<!\w)[0-9]+\.\s*",
    ),
    Trap(
        "syntax.float_digits",
        "a float has digits on both sides of its point",
        "write `0.5`",
        found=".",
        ahead=r"\.[0-9]",
    ),
    Trap(
        "syntax.field_name",
        "after `.` comes the name of a field",
        "the element of an array is written `a[0]`",
        found="INT FLOAT STRING TAG UIDENT ( [ { _ .",
        context=r"E \.",
    ),
    Trap(
        "syntax.annotation",
        "an expression has no annotation",
        "bind it to a name that has one: `let x : int = e in ...`",
        found=":",
        context="E",
    ),
    Trap(
        "syntax.equality_sign",
        "`=` defines, it does not compare",
        "write `==`",
        found="=",
        context="E",
    ),
    Trap(
        "syntax.tuple",
        "there are no tuples",
        "use a record, `{ a = 1; b = 2 }`, or a tag with several arguments, `` `Pair(1, 2) ``",
        found=",",
        context="[EP]",
        when=lambda situation: not another_is_open(situation) or situation.context.endswith(("( E", "P")),
    ),
    Trap(
        "syntax.missing_fun",
        "`->` follows the parameters of a `fun`, or the pattern of an arm",
        "a function is written `fun x -> e`, an arm of a `match` `| pattern -> e`",
        found="->",
        context="E",
    ),
)
