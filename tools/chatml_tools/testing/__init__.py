"""Policy tests: scenarios whose expectations are held against what their script does (docs/policy-tests.md)."""
