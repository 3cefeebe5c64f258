"""The tests of the toolkit; README.md says where a test goes."""
