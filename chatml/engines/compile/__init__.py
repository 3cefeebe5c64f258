"""The compiling engine: core becomes Python functions.

| module | what it knows |
| --- | --- |
| `analyse` `facts` | what is known: whom a call reaches, which refs are variables |
| `lower` `body` `expressions` `statements` | from core to Python's syntax tree; `python` spells its nodes |
| `arithmetic` `concatenation` `matches` `traversals` | numbers, strings, `match`, builtins that go through arrays |
| `inline` | builtins that are an expression of Python |
| `code` | what generation leaves: the code object, and the place in the script that each of its lines stands for |
| `compiled` `bounce` `passing` | linking code to an instance; last calls that take no stack; builtins as values |
| `entry` `hosts` | a function as a host calls it: in place, on the host's own data where they fit |
| `failures` | from what Python raises back to a failure of the script |

Script text never becomes Python text: every name in the tree is made here, and the tree is compiled without being
printed.
"""
