"""The registry: live runtimes and tools of one authorised manifest, for as long as a host needs them.

`opening` is the way in: ceiling, scripts, evidence, decision, and then runtimes, workers first. Either all of a
document's tools are published or none. `registry` answers calls of a model and of a moderator; whatever happens becomes
a text or one of the codes of section 12, and leaving the registry ends every process and closes every file.
"""
