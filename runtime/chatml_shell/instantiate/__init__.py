"""From an authorised manifest to live runtimes: this machine's paths, files, variables and people (section 11).

In comes the material of a manifest and a `Host`; out come `LiveRuntime`s and prepared tools, or every reason why this
machine cannot give what was authorised. A runtime is made exactly as declared or not at all: a directory that is
missing, a program with another digest, a backend that is not installed stop the start before any tool is published.
"""
