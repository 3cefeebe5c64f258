"""ChatML: a small statically typed language for policies over LLM conversations.

>>> import chatml
>>> program = chatml.compile('let greet who = "hello " ++ who', name="greet.chatml")
>>> program.types
{'greet': '(string -> string)'}
>>> program.run().call("greet", "world")
'hello world'

`compile` and `check` take a script through its phases; a `Program` runs any number of times, each time as an
`Instance`. A `Surface` says what scripts can name; the types of its builtins are built with `Fun`, `Record` and the
other type builders. `from_python` and `to_python`, `from_json` and `to_json` carry data across the border. Every error
is a `ChatmlError`; `chatml.diagnostics.errors` draws the tree.
"""

import typing

from chatml.lazy import door as _door

if typing.TYPE_CHECKING:
    from chatml.door import *
else:
    __getattr__, __dir__ = _door(__name__)
