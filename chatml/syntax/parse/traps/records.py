"""Traps of records and their fields."""

from __future__ import annotations

from chatml.syntax.parse.traps.trap import ATOMS, FIELD_NAME, Trap

RECORDS = (
    Trap(
        "syntax.open_ended_field",
        "this is not a field: the value before it goes on over the `;`",
        "put that value in parentheses: `{ f = (fun x -> x); n = 1 }`",
        found="=",
        context=r"(\{|with)( fields ;)? names = [^({\[]*(fun|else|->|in) [^({\[]*; E",
        at="fun else -> in",
        label="the body that begins here takes the `;`",
    ),
    Trap(
        "syntax.record_separator",
        "the fields of a record are separated by `;`",
        "write `{ a = 1; b = 2 }`",
        found=",",
        context=rf"{FIELD_NAME} [=:] [ET]|field_patterns",
    ),
    Trap(
        "syntax.record_sign",
        "the value of a field follows `=`",
        "`:` stands in record types: `type t = { n : int }`",
        found=":",
        context=rf"\{{ E|{FIELD_NAME}",
    ),
    Trap(
        "syntax.record_sign",
        "the type of a field follows `:`",
        "`=` stands in records: `{ n = 1 }`",
        found="=",
        context=FIELD_NAME,
    ),
    Trap(
        "syntax.field_punning",
        "a field needs a value, even if a variable has its name",
        "write `{ a = a }`; a changed copy is written `{ r with a = 1 }`",
        found="}",
        context=r"\{ E",
    ),
    Trap(
        "syntax.field_punning",
        "a field needs what follows its `=`",
        "write `{ a = a }`",
        found="} ;",
        context=FIELD_NAME,
    ),
    Trap(
        "syntax.record_field",
        "each field of a record is written `name = value`",
        "`{ a = 1; b = 2 }` makes a record, `{ r with a = 1 }` a changed copy",
        found="=",
        context=r"\{ (E|E ; E)",
    ),
    Trap(
        "syntax.record_field",
        "after `;` in a record comes another field",
        "a value of several steps needs parentheses: `{ a = (f(); 2) }`",
        found=f"{ATOMS} ( [ - -. _",
        context="fields ;",
    ),
    Trap(
        "syntax.open_pattern",
        "an open record pattern names a field before the `_`",
        "write `{ a = x; _ }`, or `_` alone to match anything",
        found="_",
        context=r"\{",
        place="name",
    ),
    Trap(
        "syntax.field_assignment",
        "a field cannot be set",
        "make a changed copy, `{ r with x = 1 }`, or keep a reference in the field and set that, `r.x := 1`",
        found="<-",
        context=r"E \. names",
    ),
)
