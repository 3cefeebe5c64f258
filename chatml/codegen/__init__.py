"""The compiling engine: core becomes Python functions (docs/how-it-works.md says how the pieces fit).

`analyse` finds out what is known before a line is generated, `lower` builds the Python syntax tree, `compiled` links
it to an instance and turns what Python raises back into failures of the script. Script text never becomes Python text:
every name in the generated tree is made here, and the tree is compiled without being printed.
"""
