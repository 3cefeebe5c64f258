"""The findings about shell declarations in words (shell.md section 23)."""

from __future__ import annotations

from chatmd.report.wording import Wording

LISTS = "separate the entries with commas and leave none of them empty"

SHELL_WORDINGS: dict[str, Wording] = {
    # what an element holds
    "shell.unexpected_text": Wording("text has no place inside of `<{tag}>`: {text}"),
    "shell.unknown_element": Wording("`<{child}>` has no place inside of `<{tag}>`"),
    "shell.unknown_matcher": Wording("`<{child}>` is not a matcher"),
    "shell.unexpected_child": Wording("`<{child}>` has no place inside of `<{tag}>`"),
    "shell.duplicate_section": Wording("`<{tag}>` has `<{child}>` twice", "write everything into one of them"),
    "shell.empty_matcher": Wording(
        "`<{tag}>` holds no matcher", "write the matchers that it joins, or `<any_command/>` to match always"
    ),
    "shell.matcher_arity": Wording("`<{tag}>` holds one matcher, not {count}", "join several with `<all>` or `<any>`"),
    "shell.rule_matcher_arity": Wording(
        "a rule has one matcher, not {count}",
        "join several with `<all>` or `<any>`; a rule for every command holds `<any_command/>`",
    ),
    "shell.after_interceptor_match": Wording(
        "`<match>` has no place in an interceptor of phase `after`",
        "it decides before a command runs: leave it away, or intercept in phase `before`",
    ),
    "shell.moderator_runtime_content": Wording("`<moderator_runtime>` holds something"),
    # values
    "shell.invalid_attribute": Wording("`{attribute}` must be {wanted}, not `{value}`"),
    "shell.invalid_duration": Wording("`{attribute}` must be {wanted}, not `{value}`"),
    "shell.invalid_bytes": Wording("`{attribute}` must be {wanted}, not `{value}`"),
    "shell.invalid_integer": Wording("`{attribute}` must be {wanted}, not `{value}`"),
    "shell.invalid_path": Wording("`{value}` is not a path: {why}"),
    "shell.invalid_list": Wording("`{attribute}` must be {wanted}, not `{value}`", LISTS),
    "shell.invalid_env_name": Wording("`{attribute}` must be {wanted}, not `{value}`"),
    "shell.invalid_runtime_id": Wording(
        "`{value}` cannot be the id of a runtime",
        "an id begins with a letter or `_`, and goes on with letters, digits, `_`, `.`, `:` and `-`",
    ),
    # attributes that depend on each other
    "shell.invalid_root": Wording(
        "a root is named by {alternatives}, this one by {found}", "write exactly one of the two attributes"
    ),
    "shell.invalid_path_operation": Wording(
        "`<path>` has {alternatives}, this one has {found}", "write two elements to do both"
    ),
    "shell.invalid_extension": Wording(
        "`<{tag}>` has {alternatives}, this one has {found}",
        "`script` names a `<script>` of this document, `executable` a program",
    ),
    "shell.audit_path_required": Wording(
        "an audit of format `jsonl` needs a file", 'write `path="audit.jsonl"`, or another path'
    ),
    "shell.ignored_attribute": Wording(
        "`{attribute}` means nothing on this `<{tag}>` and is left out", "leave it away", "warning"
    ),
    # tools
    "shell.tool_invalid_type": Wording(
        "a tool with a runtime has type `shell`, not `{value}`", 'write `type="shell"`, or leave `runtime` away'
    ),
    "shell.tool_invalid_mode": Wording("`{value}` is not a mode of a shell tool", "the modes are {known}"),
    "shell.tool_mode_attribute": Wording(
        "`{attribute}` has no place on a tool of mode `{mode}`", "it belongs to mode {modes}"
    ),
    "shell.tool_mode_child": Wording(
        "`<{child}>` has no place in a tool of mode `{mode}`", 'it belongs to `mode="fixed"`'
    ),
    "shell.tool_missing_attribute": Wording(
        "this shell tool needs a non-empty attribute `{attribute}`", 'write `{attribute}="..."`'
    ),
    "shell.tool_invalid_attribute": Wording("`{attribute}` must be {wanted}, not `{value}`"),
    "shell.tool_invalid_path": Wording("`{value}` is not a path: {why}"),
    "shell.tool_conflicting_command": Wording(
        "this command is given by {found} at once", "keep one of them: a fixed tool runs one command"
    ),
    "shell.tool_missing_command": Wording(
        "this fixed tool has no command",
        'write `command="PROGRAM"`, `executable_ref="ID"`, or a child such as `<command program="PROGRAM"/>`',
    ),
    "shell.tool_conflicting_script": Wording(
        "a script that an interpreter runs is not executed itself", "leave `executable` or `interpreter` away"
    ),
    # inheritance
    "shell.duplicate_runtime": Wording("another runtime has the id `{id}`", "give each runtime its own id"),
    "shell.unknown_runtime": Wording("unknown runtime `{id}`", 'declare it with `<shell_access id="..."/>`'),
    "shell.unknown_builtin_profile": Wording("unknown built-in profile `{id}`", "the profiles are {known}"),
    "shell.inheritance_cycle": Wording("this runtime extends itself: {route}", "a chain of `extends` must end"),
    "shell.duplicate_named_entry": Wording(
        "the runtime `{runtime}` already has `<{tag}>` with the id `{id}`", "{remedy}"
    ),
}
