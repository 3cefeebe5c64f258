"""The language server: what an editor asks about scripts and prompt documents, and what it is told.

The editor sends requests and changes over standard input. `server` gives each to `documents`, which holds the open
texts as the editor has them; `answers` reads types and bindings off `chatml_tools.navigation`, and `reports` turns the
diagnostics of `chatml check` into those of the protocol. Positions are ours, not the library's: the protocol counts
UTF-16 units and ends lines at three characters only (`positions`).
"""
