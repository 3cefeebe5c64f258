"""Who says yes: the authorisation of a manifest as a whole (shell.md section 10).

In comes a compiled manifest, out comes a `Grant` of exactly its hash, or `shell.manifest_rejected`. The order is fixed:
the administrator's ceiling, then evidence about the sources and the signature, and only then the person or program that
decides, so that nobody is asked about what is forbidden anyway. A library and a batch run reject unless told otherwise.
A grant is for one manifest: whoever instantiates another one is refused.
"""
