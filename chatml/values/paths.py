"""Paths as text (builtins.md section 10): lexical, POSIX. No file system is asked, so a link is not followed."""

from __future__ import annotations

from chatml.values.model import Value

HERE, UP = ".", ".."


def normalise(path: str) -> str:
    """A path without `.`, empty parts and a final `/`; `..` takes the part before it along.

    Above the root of an absolute path there is only the root; a relative path keeps the `..` that it begins with.

    >>> normalise("//docs/./a/../b/"), normalise("a/../../b"), normalise("/../a"), normalise("")
    ('/docs/b', '../b', '/a', '.')
    """
    root = "/" if path.startswith("/") else ""
    kept: list[str] = []
    for part in path.split("/"):
        if part == UP:
            if kept and kept[-1] != UP:
                kept.pop()
            elif not root:
                kept.append(part)
        elif part not in ("", HERE):
            kept.append(part)
    return root + "/".join(kept) or HERE


def is_below(path: str, root: str) -> bool:
    """Whether a path leads to a root or to something inside it.

    >>> is_below("docs/../x", "docs"), is_below("a", "."), is_below("docsx", "docs"), is_below("../a", "..")
    (False, True, False, False)
    """
    path, root = normalise(path), normalise(root)
    if path == root:
        return True
    if path == UP or path.startswith("../"):
        return False
    if root == HERE:
        return not path.startswith("/")
    return path.startswith(root if root == "/" else f"{root}/")


def join(first: str, second: str) -> str:
    """The path that the second one is, seen from the first; an absolute second path is itself.

    >>> join("a", "../b"), join("a", "/b"), join("", "x")
    ('b', '/b', 'x')
    """
    return normalise(f"{first}/{second}" if first and not second.startswith("/") else second or first)


def split_last(path: str) -> tuple[str, str]:
    """The directory and the name of a normalised path; the root and `.` have no name.

    >>> split_last("/a/b"), split_last("/a"), split_last("a"), split_last("/"), split_last("")
    (('/a', 'b'), ('/', 'a'), ('.', 'a'), ('/', ''), ('.', ''))
    """
    path = normalise(path)
    if path in ("/", HERE):
        return path, ""
    directory, slash, name = path.rpartition("/")
    return directory or slash or HERE, name


def path_argument(text: Value) -> Value:
    """An argument of a tool call as a normalised path, or `None: only a text that is not empty and has no NUL is one.

    >>> path_argument("docs/../secrets/key"), path_argument(""), path_argument(["docs"])
    (('Some', 'secrets/key'), ('None',), ('None',))
    """
    if type(text) is not str or not text or "\0" in text:
        return ("None",)
    return ("Some", normalise(text))
