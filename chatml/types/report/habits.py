"""Names that people bring from other languages: what each one is called here.

One table for each kind of name. A text says what to write instead; where the language has nothing of the kind, it says
so and names the way around. Tests hold every builtin that a text names to exist.
"""

from __future__ import annotations

from collections.abc import Container

ARRAYS = "lists are arrays: use the module `Array`"
FAILING = "write `fail(message)`; a task fails with `Task.fail(message)`"
NO_CATCHING = "a script cannot catch its own failures; `Task.catch(t, fun message -> u)` catches a task that fails"
CONVERSION = "write `Int.to_float(n)`, `Float.to_int(x)`, `Text.parse_int(text)` or `Text.parse_float(text)`"
NO_IMPORT = "a script is one file: what is builtin is there without an import"
NO_MATH = "there are the operators, the modules `Int` and `Float`, and functions that you define"
NOTHING = "ChatML has no null: use the tags `` `None `` and `` `Some(x) ``"
PAIRS = "there are no tuples: use a record, `{ a = 1; b = 2 }`, and its fields"
PATTERNS = "write `Text.matches(text, pattern)`, `Text.find_all` or `Text.replace_matches`"
PLAIN_LET = "write `let x = e`; a value that changes is a reference: `let x = ref(1)`, `x := !x + 1`"
PRINT = "write `print(text)`; strings are joined with `++`"
TABLES = "use the module `Hashtbl`, or a record where the keys are known"
TO_STRING = "write `to_string(x)`"

VARIABLES = {
    "abs": "write `Int.abs(n)`",
    "async": "a task is a value: continue it with `let* x = task in ...`",
    "await": "a task is a value: continue it with `let* x = task in ...`",
    "assert": "write `if c then () else fail(message)`",
    "begin": "group with parentheses",
    "bool_of_string": 'compare the text: `text == "true"`',
    "case": "write `match x with | pattern -> e`",
    "class": "there are no classes: use records, and functions over them",
    "concat": "strings are joined with `++`, arrays with `Array.append`",
    "console": PRINT,
    "const": PLAIN_LET,
    "decr": "write `x := !x - 1`",
    "def": "a function is written `let f x = e`",
    "dict": TABLES,
    "elif": "write `else if`",
    "enumerate": "write `Array.iteri(xs, fun i x -> e)` or `Array.mapi`",
    "error": FAILING,
    "exception": FAILING,
    "exit": FAILING,
    "failwith": FAILING,
    "filter": "write `Array.filter(xs, fun x -> e)`",
    "float": CONVERSION,
    "float_of_int": "write `Int.to_float(n)`",
    "float_of_string": "write `Text.parse_float(text)`",
    "fn": "a function is written `fun x -> e`",
    "for": "`Array.iter(xs, fun x -> e)` visits every element, `while c do e done` repeats",
    "format": "strings are joined with `++`, and `to_string` makes a string of any value",
    "from": NO_IMPORT,
    "fst": PAIRS,
    "func": "a function is written `let f x = e`",
    "function": "write `fun x -> match x with | ...`",
    "ignore": "bind the value to a name that is not used: `let _unused = e in ...`",
    "import": NO_IMPORT,
    "include": NO_IMPORT,
    "incr": "write `x := !x + 1`",
    "int": CONVERSION,
    "int_of_float": "write `Float.to_int(x)`",
    "int_of_string": "write `Text.parse_int(text)`",
    "invalid_arg": FAILING,
    "is": "write `==`",
    "isinstance": "types are checked before a script runs; tags are told apart with `match`",
    "lambda": "a function is written `fun x -> e`",
    "len": "write `length(xs)`, of a string `String.length(s)`",
    "list": ARRAYS,
    "map": "write `Array.map(xs, fun x -> e)`",
    "max": "write `Int.max(a, b)` or `Float.max(a, b)`",
    "min": "write `Int.min(a, b)` or `Float.min(a, b)`",
    "mod": "write `a % b`",
    "mut": PLAIN_LET,
    "new": "there are no classes: a record is written `{ a = 1; b = 2 }`",
    "nil": NOTHING,
    "null": NOTHING,
    "parseFloat": "write `Text.parse_float(text)`",
    "parseInt": "write `Text.parse_int(text)`",
    "print_endline": PRINT,
    "print_int": "write `print(n)`",
    "print_string": PRINT,
    "printf": PRINT,
    "println": PRINT,
    "puts": PRINT,
    "raise": FAILING,
    "range": "write `Array.init(n, fun i -> i)`",
    "reduce": "write `Array.fold(xs, start, fun acc x -> e)`",
    "repr": TO_STRING,
    "require": NO_IMPORT,
    "return": "leave it out: the last expression of a function is its result",
    "self": "there are no methods: a function takes what it works on as an argument",
    "show": TO_STRING,
    "snd": PAIRS,
    "sprintf": "strings are joined with `++`, and `to_string` makes a string of any value",
    "sqrt": NO_MATH,
    "str": TO_STRING,
    "string_of_bool": TO_STRING,
    "string_of_float": TO_STRING,
    "string_of_int": TO_STRING,
    "sum": "write `Array.fold(xs, 0, fun acc x -> acc + x)`",
    "switch": "write `match x with | pattern -> e`",
    "this": "there are no methods: a function takes what it works on as an argument",
    "throw": FAILING,
    "try": NO_CATCHING,
    "typeof": "types are checked before a script runs; tags are told apart with `match`",
    "undefined": NOTHING,
    "use": NO_IMPORT,
    "val": PLAIN_LET,
    "var": PLAIN_LET,
    # Modules and constructors
    "Bool": "`to_string` makes a string of any value; `not`, `&&` and `||` work on bools",
    "Bytes": "there are no bytes: use the module `String`",
    "Char": "there are no characters: a string of length 1 is one, `String.slice(s, i, 1)`",
    "Console": PRINT,
    "Date": "the time is a part of what a moderator is given: `context.now_ms`",
    "Debug": "write `print(text)`; a moderator writes to its log with `Log.debug(text)`",
    "Dict": TABLES,
    "Exception": FAILING,
    "False": "write `false`",
    "Fun": "a function is written `fun x -> e`",
    "HashMap": TABLES,
    "Integer": "use the module `Int`; `to_string` makes a string of any value",
    "List": ARRAYS,
    "Map": TABLES,
    "Math": NO_MATH,
    "Maybe": "use the module `Option`, and the tags `` `None `` and `` `Some(x) ``",
    "Number": "use the modules `Int` and `Float`; `to_string` makes a string of any value",
    "Object": TABLES,
    "Printf": PRINT,
    "Promise": "use the module `Task`",
    "Re": PATTERNS,
    "RegExp": PATTERNS,
    "Regex": PATTERNS,
    "Result": "use the tags `` `Ok(x) `` and `` `Error(message) `` with `match`",
    "Seq": ARRAYS,
    "Set": "keep the elements as keys of a `Hashtbl`",
    "Str": "use the module `String`",
    "Sys": "a script does not reach the system; a moderator runs what its host offers, `Process.run`",
    "True": "write `true`",
}
"""What other languages call values, modules and keywords."""

EXPORTS: dict[str, dict[str, str]] = {
    "String": {
        "length": "len size count",
        "is_empty": "isEmpty empty is_blank",
        "concat": "append cat plus add",
        "equal": "equals eq is_equal",
        "contains": "includes has mem contains_s is_substring contains_substring exists",
        "starts_with": "startsWith startswith hasPrefix has_prefix is_prefix prefix",
        "ends_with": "endsWith endswith hasSuffix has_suffix is_suffix suffix",
        "trim": "strip trimmed",
        "slice": "sub substr substring get at nth charAt char_at left right take drop head explode to_list chars",
        "find": "index indexOf index_of indexes search position find_index index_opt index_from",
        "split": "split_on_char split_string",
        "to_upper": "toUpper toUpperCase uppercase upcase upper to_uppercase uppercase_ascii capitalize",
        "to_lower": "toLower toLowerCase lowercase downcase lower to_lowercase lowercase_ascii uncapitalize",
        "replace_all": "replace replaceAll gsub sub_all substitute global_replace",
    },
    "Array": {
        "length": "len size count",
        "copy": "clone of_list from_list fromList of_array to_list toList dup",
        "get": "at nth unsafe_get hd head first last",
        "set": "put update replace unsafe_set",
        "make": "create repeat fill_new create_float new",
        "append": "concat push cons add extend join_arrays push_back plus flatten union flat_map concat_map concatMap",
        "sub": "slice take drop splice tl tail rest first_n last_n skip",
        "reverse": "rev reversed",
        "reverse_in_place": "rev_in_place rev_inplace",
        "init": "range initialize tabulate generate build",
        "map": "collect select transform",
        "mapi": "map_with_index indexedMap mapWithIndex map_indexed",
        "iter": "each forEach for_each foreach do walk",
        "iteri": "each_with_index enumerate iter_with_index find_index index indexOf findIndex index_of",
        "fold": "fold_left foldl reduce inject fold_right foldr foldLeft sum max min",
        "filter": "where keep select_if filter_out reject remove delete",
        "exists": "any some mem contains includes has member",
        "for_all": "all every forall",
        "find": "find_opt find_first detect",
        "find_map": "pick first_some map_first",
        "sort_by": "sort sorted sortBy order_by sort_with sort_on",
    },
    "Option": {
        "get_or": "value get_or_else getOrElse with_default withDefault unwrap_or default unwrap get or_else value_or",
        "is_none": "isNone is_empty isEmpty",
        "is_some": "isSome is_present isPresent is_just",
        "none": "nothing None empty",
        "some": "just Some of return pure",
    },
    "Hashtbl": {
        "create": "make new empty init",
        "set": "add replace put insert update store",
        "get": "find find_opt lookup at get_opt",
        "mem": "has contains exists contains_key has_key containsKey includes member",
        "remove": "delete del drop erase",
    },
    "Json": {
        "parse": "decode loads load of_string from_string parse_exn read deserialize",
        "parse_opt": "try_parse parse_safe safe_parse tryParse",
        "stringify": "encode dumps dump to_string serialize print write toString",
        "canonical": "canonicalize canonicalise sorted sort_keys normalise normalize",
        "pretty": "pretty_print pp prettify pretty_to_string indent",
        "validate": "is_valid valid check",
        "get_field": "get field member find lookup at index",
        "get_path": "path query select get_in getIn dig",
        "set_field": "set put add insert update",
        "remove_field": "remove delete unset drop",
        "object_keys": "keys fields entries names",
        "as_string": "to_text string get_string asString",
        "as_number": "number int float to_int to_float as_int as_float get_int get_number asNumber",
        "as_bool": "bool to_bool get_bool boolean asBool",
        "as_array": "array list to_list as_list get_array asArray",
        "as_object": "object to_object get_object assoc to_assoc asObject",
        "tag": "type kind type_of typeof",
    },
    "Task": {
        "pure": "return of resolve succeed unit ok done now value",
        "bind": "then and_then andThen flat_map flatMap chain",
        "map": "lift fmap",
        "fail": "error reject raise throw",
        "catch": "recover rescue handle on_error onError or_else attempt try with_handler",
    },
    "Log": {"warn": "warning", "info": "log print notice write", "error": "err fatal critical", "debug": "trace"},
    "Item": {
        "text": "content get_text body to_string message",
        "user_text": "user user_message",
        "assistant_text": "assistant assistant_message",
        "system_text": "system system_message",
        "kind": "type tag",
        "create": "make new of_json",
        "value": "json to_json raw",
    },
    "Path": {
        "normalise": "normalize norm normpath clean resolve canonical absolute realpath",
        "is_below": "is_under is_inside is_within is_relative_to starts_with contains isBelow",
        "join": "concat append add",
        "basename": "name file_name filename base",
        "dirname": "parent directory dir",
    },
    "Text": {
        "words": "tokens tokenize split",
        "lines": "split_lines splitlines",
        "join": "concat implode",
        "replace": "replace_all replaceAll",
        "matches": "match test search is_match contains regex",
        "find_all": "findall match_all scan matches_all",
        "replace_matches": "gsub sub re_sub replace_regex regex_replace",
        "parse_int": "to_int int int_of_string",
        "parse_float": "to_float float float_of_string",
    },
    "Int": {"to_float": "toFloat of_int float", "abs": "absolute", "min": "minimum", "max": "maximum"},
    "Float": {
        "to_int": "toInt truncate trunc int of_float",
        "floor": "round_down",
        "ceil": "ceiling round_up",
        "round": "nearest",
        "min": "minimum",
        "max": "maximum",
    },
    "Tool_call": {
        "arg": "args get argument param get_arg arg_json",
        "arg_string": "string get_string arg_text",
        "arg_int": "int get_int arg_number number arg_float",
        "path": "arg_path get_path file",
        "arg_bool": "bool get_bool",
        "arg_array": "array list arg_list get_array",
        "is_named": "name named has_name is",
        "is_one_of": "is_in one_of any_of is_any_of",
    },
    "Context": {"find_tool": "tool get_tool lookup_tool", "last_item": "last last_message latest"},
    "Tool": {
        "approve": "allow accept permit ok pass",
        "reject": "deny block refuse forbid",
        "rewrite_args": "rewrite set_args modify_args update_args change_args",
        "redirect": "replace reroute forward",
        "call": "run invoke execute",
        "spawn": "start launch background call_async",
    },
    "Model": {"call": "run invoke ask complete", "call_text": "prompt text ask_text generate", "spawn": "start launch"},
    "Turn": {
        "append_item": "append add push add_item insert insert_item",
        "append_message": "add_message send message",
        "append_notice": "notice notify add_notice",
        "replace_item": "replace update update_item edit set_item",
        "delete_item": "delete remove remove_item drop redact",
        "prepend_system": "system prepend add_system set_system",
        "halt": "stop end abort exit quit end_turn",
    },
    "Schedule": {
        "after_ms": "after set_timeout setTimeout timer delay sleep in_ms after_s after_seconds at every",
        "cancel": "clear clear_timeout clearTimeout stop remove",
    },
    "Runtime": {
        "emit": "send dispatch post publish raise",
        "end_session": "end stop halt exit quit close",
        "request_turn": "turn next_turn new_turn start_turn",
        "request_compaction": "compact compaction summarize",
    },
    "Process": {"run": "exec spawn start call system execute shell"},
    "Ui": {"notify": "show print message alert toast info notice"},
    "Approval": {
        "ask_text": "ask prompt input question text",
        "ask_choice": "choose choice select confirm ask_confirm ask_yes_no yes_no ask_bool",
    },
}
"""Of each builtin module: by what other names its exports go elsewhere, and what else they are made for."""

MATCH = "write `match x with | `Some(y) -> ... | `None -> ...`"
ENTRIES = "a table is a reference to an array of its entries: `Array.iter(!table, fun e -> f(e.key, e.value))`"
ABSENT: dict[str, dict[str, str]] = {
    "String": {
        "of_int from_int of_float of_bool from make_string to_string toString show": TO_STRING,
        "to_int to_float toInt toFloat of_string parse": CONVERSION,
        "join": "write `Text.join(parts, separator)`",
        "lines": "write `Text.lines(text)`",
        "words": "write `Text.words(text)`",
        "match matches regex test": "write `Text.matches(text, pattern)`",
        "format printf sprintf": "strings are joined with `++`, and `to_string` makes a string of any value",
        "compare": "strings have no order: `==` and `!=` compare them",
    },
    "Array": {
        "zip combine map2 iter2": "write `Array.mapi(xs, fun i x -> f(x, ys[i]))`",
        "is_empty isEmpty empty": "write `length(xs) == 0`",
        "pop shift unshift": "arrays keep their length: `Array.sub(xs, start, length)` makes a part of one",
        "join": "write `Text.join(parts, separator)`",
    },
    "Int": {
        "to_string show": TO_STRING,
        "of_string parse": "write `Text.parse_int(text)`",
    },
    "Float": {
        "to_string show": TO_STRING,
        "of_string parse": "write `Text.parse_float(text)`",
        "abs": "write `if x <. 0.0 then -.x else x`",
    },
    "Option": {"map bind iter fold flat_map flatMap and_then andThen then to_list filter": MATCH},
    "Hashtbl": {
        "iter fold map keys values entries items to_list to_seq length size len count": ENTRIES,
        "clear reset": "write `table := []`",
    },
    "Task": {
        "all sequence parallel both gather race join": "tasks follow each other: `let* a = t in let* b = u in ...`",
        "sleep delay": "a moderator is told of the time by `Schedule.after_ms`",
        "run await perform unwrap get": "a task gives its value when a host runs it: `let* x = task in ...`",
    },
    "Turn": {"request request_turn": "write `Runtime.request_turn()`"},
    "Tool": {"name args": "a call is a record: `call.name`, `call.args`"},
}
"""What a builtin module has no export for."""

TYPES = {
    "any": "leave the annotation out: the type is inferred",
    "auto": "leave the annotation out: the type is inferred",
    "boolean": "write `bool`",
    "char": "there are no characters: write `string`",
    "double": "write `float`",
    "exn": NO_CATCHING,
    "integer": "write `int`",
    "long": "write `int`",
    "nil": "write `unit`",
    "none": "write `unit`",
    "null": "write `unit`",
    "number": "write `int` or `float`",
    "str": "write `string`",
    "text": "write `string`",
    "void": "write `unit`",
}
"""What other languages call the types without arguments."""

CONSTRUCTORS = {
    "dict": TABLES,
    "hashtbl": "leave the annotation out: the type of a table is inferred",
    "list": "lists are arrays: `int array`",
    "map": TABLES,
    "maybe": "write the variant: [ `None | `Some(int) ]",
    "option": "write the variant: [ `None | `Some(int) ]",
    "optional": "write the variant: [ `None | `Some(int) ]",
    "promise": "write `int task`",
    "ref": "the type of a ref cannot be written: leave out the annotation",
    "result": "write the variant: [ `Error(string) | `Ok(int) ]",
    "seq": "lists are arrays: `int array`",
    "vec": "lists are arrays: `int array`",
    "vector": "lists are arrays: `int array`",
}
"""What other languages call the types that take one."""


def export_habit(module: str, name: str, exports: Container[str]) -> str | None:
    """The export of a builtin module that does what another language has this name for.

    >>> export_habit("String", "len", {"length", "find"})
    'length'
    """
    rows = EXPORTS.get(module, {}).items()
    return next((own for own, others in rows if own in exports and name in others.split()), None)


def absent_export(module: str, name: str) -> str | None:
    """What to do without an export that a builtin module does not have.

    >>> absent_export("String", "of_int")
    'write `to_string(x)`'
    """
    rows = ABSENT.get(module, {}).items()
    return next((text for others, text in rows if name in others.split()), None)
