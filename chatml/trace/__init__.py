"""What a script did: calls, arms, operations, commits, as a tree.

Data (`model`), collecting it (`collect`, in bounded memory), the engine that tells what it does (`engine`), and drawing
it (`draw`).
"""

from chatml.trace.draw import draw
from chatml.trace.model import Bounds, Entry, Failure, LeftOut, Trace
from chatml.trace.tracer import Tracer

__all__ = ["Bounds", "Entry", "Failure", "LeftOut", "Trace", "Tracer", "draw"]
