"""Finding the way in a script that is being written, for editors: nothing runs, and the script need not be right.

| module | what it knows |
| --- | --- |
| `analysis` | one text: its diagnostics, and the type and the binding of what stands at a place |
| `bindings` | which binding each use of a name refers to; `place` finds the name, or the expression, at an offset |
| `outline` | the definitions, those of modules inside them |
| `preceding` | completion, by what stands before the statement with the cursor |
"""

from chatml_tools.navigation.analysis import Analysis, Sight
from chatml_tools.navigation.bindings import Binding, Bindings
from chatml_tools.navigation.outline import Symbol, outline
from chatml_tools.navigation.preceding import Preceding

__all__ = ["Analysis", "Binding", "Bindings", "Preceding", "Sight", "Symbol", "outline"]
