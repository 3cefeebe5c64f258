"""A second codec: slow, character by character, as close to the specification's words as can be.

It shares nothing with the package but the shape of its results, so that the two can be held against each
other.
"""

from __future__ import annotations

from typing import Any

from tests.nrchat.json5_model import ModelError, W, read_json5, write_json5

# Zones (nrchat.md section 8)


def run_of(line: str) -> int:
    count = 0
    while count < len(line) and line[count] == "`":
        count += 1
    return count


def is_opener(line: str) -> bool:
    run = run_of(line)
    return run >= 4 and "`" not in line[run:]


def is_closer(line: str) -> bool:
    run = run_of(line)
    return run >= 4 and all(c in " \t\r" for c in line[run:])


def zoned(lines: list[str]) -> list[bool]:
    """For each line, whether it lies in a zone. Quadratic, as the rule is written."""
    result = [False] * len(lines)
    at = 0
    while at < len(lines):
        if is_opener(lines[at]):
            for below in range(at + 1, len(lines)):
                if is_closer(lines[below]) and run_of(lines[below]) >= run_of(lines[at]):
                    for inside in range(at, below + 1):
                        result[inside] = True
                    at = below
                    break
        at += 1
    return result


def closed(body: str) -> bool:
    lines = body.split("\n")
    return not any(is_opener(line) and not zone for line, zone in zip(lines, zoned(lines), strict=True))


# Reading a chat (sections 3 to 7 and 9)


def is_marker(line: str) -> bool:
    return len(line) >= 2 and line[0] == "%" and line[1] not in W


def without_cr(line: str) -> str:
    return line[:-1] if line.endswith("\r") else line


def strip_blanks(text: str) -> str:
    while text and text[0] in W:
        text = text[1:]
    while text and text[-1] in W:
        text = text[:-1]
    return text


def parse(text: str) -> list[tuple[Any, ...]]:
    """(role, name, meta, body, raw meta, (start, end)) of each message."""
    lines = text.split("\n")
    zone = zoned(lines)
    starts = [sum(len(line) + 1 for line in lines[:number]) for number in range(len(lines))]
    openers = [number for number, line in enumerate(lines) if is_marker(line) and not zone[number]]
    messages = []
    for which, number in enumerate(openers):
        start = starts[number]
        if which + 1 < len(openers):
            end = starts[openers[which + 1]] - 1
            end -= text[end - 1] == "\r"
        elif text[-1] == "\n":
            end = len(text) - 1
            end -= text[end - 1] == "\r"
        else:
            end = len(text)
        try:
            messages.append((*read_message(text[start:end], zone[number:]), (start, end)))
        except ModelError as error:
            error.line = number + 1
            raise
    return messages


def read_message(text: str, zone: list[bool]) -> tuple[Any, ...]:
    first, *rest = text.split("\n")
    role, name, meta, raw = read_marker(without_cr(first))
    body = []
    for number, line in enumerate(rest):
        line = without_cr(line)
        if not zone[number + 1]:
            slashes = 0
            while line[slashes : slashes + 1] == "\\":
                slashes += 1
            if slashes and line[slashes : slashes + 1] == "%":
                line = line[1:]
        body.append(line)
    return role, name, meta, "\n".join(body), raw


def read_marker(line: str) -> tuple[str, str | None, Any, str | None]:
    at = 1
    while at < len(line) and line[at] not in W:
        at += 1
    role, tail = line[1:at], line[at:]
    at = 0
    while at < len(tail) and tail[at] != "{":
        at += 2 if tail[at] == "\\" and tail[at + 1 : at + 2] in ("{", "}", "\\") else 1
    raw = tail[at:] if at < len(tail) else None
    part = strip_blanks(tail[:at])
    name = ""
    at = 0
    while at < len(part):
        if part[at] == "\\" and part[at + 1 : at + 2] in ("{", "}", "\\"):
            at += 1
        name += part[at]
        at += 1
    return role, name or None, None if raw is None else read_json5(raw), raw


# Writing a chat (sections 5, 7 and 11)


def stringify(messages: list[tuple[Any, ...]]) -> str:
    """The text of (role, name, meta, body, raw meta, …) of each message."""
    text = ""
    for role, name, meta, body, raw, *_ in messages:
        assert role
        assert not set(role) & W
        text += "%" + role
        if name:
            text += " "
            for at, c in enumerate(name):
                follower = name[at + 1 : at + 2]
                if c in "{}" or (c == "\\" and follower in ("", "{", "}", "\\")):
                    text += "\\"
                text += c
        if raw is not None:
            text += " " + raw
        elif meta is not None:
            text += " " + write_json5(meta)
        text += "\n"
        if body:
            text += escape_body(body) + "\n"
    return text


def escape_body(body: str) -> str:
    lines = body.split("\n")
    result = []
    for line, zone in zip(lines, zoned(lines), strict=True):
        slashes = 0
        while line[slashes : slashes + 1] == "\\":
            slashes += 1
        result.append("\\" + line if not zone and line[slashes : slashes + 1] == "%" else line)
    return "\n".join(result)


def fence_for(guest: str) -> str:
    fence = "````"
    while fence in guest:
        fence += "`"
    return fence
