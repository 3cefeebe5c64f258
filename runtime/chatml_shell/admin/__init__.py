"""The administrator's ceiling over every document (shell.md section 10.3).

In comes a JSON file that a machine's administrator writes, and a manifest; out come all violations, each with what was
asked, what is allowed, who says so and what to do. The same policy then denies single commands while they are prepared
(section 13, P6), before any rule of the document is looked at. No file is permissive; a file that cannot be read or
understood stops the start, because a ceiling that nobody can read is not a missing one.
"""
