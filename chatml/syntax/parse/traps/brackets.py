"""Traps of brackets that are not closed or not opened, and of what is missing between two expressions."""

from __future__ import annotations

from chatml.syntax.parse.traps.trap import (
    ATOMS,
    KEYWORDS,
    Trap,
    another_is_open,
    nothing_is_open,
    partner_is_missing,
    partner_is_outside,
    something_is_open,
)

BRACKETS = (
    Trap(
        "syntax.unclosed",
        "`$open` is still open where the next statement begins",
        "close it with `$close`",
        found="let type module open",
        context=r".*[(\[{] .*",
        line=True,
        when=something_is_open,
        at="open",
        label="opened here",
    ),
    Trap(
        "syntax.unclosed",
        "`$open` is still open at the `$found` of an outer `$partner`",
        "close it with `$close`",
        found="then else do done in with",
        when=partner_is_outside,
        at="open",
        label="opened here",
    ),
    Trap(
        "syntax.unclosed",
        "the text ends while `$open` is open",
        "close it with `$close`",
        found="$END",
        when=something_is_open,
        at="open",
        label="opened here",
    ),
    Trap(
        "syntax.wrong_bracket",
        "`$found` cannot close `$open`",
        "close it with `$close` first",
        found=") ] } end done",
        place="after name other type",
        when=another_is_open,
        at="open",
        label="opened here",
    ),
    Trap(
        "syntax.unopened",
        "`$found` closes nothing",
        "delete it, or open what it should close",
        found=") ] } end done",
        when=nothing_is_open,
    ),
    Trap(
        "syntax.unopened",
        "this `$found` belongs to no `$partner`",
        "delete it, or look for what ended the `$partner` too early",
        found="then else do in with",
        place="after operand",
        when=partner_is_missing,
    ),
    Trap(
        "syntax.missing_separator",
        "nothing joins this line to the one before",
        "`;` separates the steps of a sequence, `,` elements and arguments",
        found=ATOMS,
        place="after",
        line=True,
    ),
    Trap(
        "syntax.missing_separator",
        "two expressions stand side by side",
        "`,` separates elements and arguments, `;` the steps of a sequence",
        found=ATOMS,
        place="after",
    ),
    Trap(
        "syntax.missing_operand",
        "an expression must stand before `$found`",
        found="BINCMP MULOP && || := <- . , ;",
        place="operand",
    ),
    Trap(
        "syntax.missing_operand",
        "an expression must follow `$before`",
        found=f"{KEYWORDS} ) ] }} | -> = : _ UIDENT",
        place="operand",
        back=r"([-+*/%=<>!:&|,;(\[{.]|\b(if|while|match|then|else|in|do|with|fun|ref))\s*",
    ),
)
