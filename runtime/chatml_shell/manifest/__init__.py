"""The manifest: what a document asks for, in full, in one deterministic text (shell.md section 9).

In comes a loaded document and a platform; out comes a `Manifest`, or every reason why there is none. A manifest is what
somebody authorises, so its text has everything that decides what may run, and nothing that changes from one machine or
day to the next: path expressions stay symbolic, secrets are placeholders, no value of the environment is looked at.
Compiling starts nothing and reads no file.

`uses` walks what a runtime refers to; `checks` and `graph` find what does not fit; `features` names what a host must be
able to do; `encoding` turns declarations into plain data and `canonical` that data into text; `compile` is the order of
it all.
"""
