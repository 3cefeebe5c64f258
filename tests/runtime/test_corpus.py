"""The session cases of the corpus, each under its id (runtime.md appendix A, builtins.md appendix A.3)."""

from __future__ import annotations

import pytest

from tests.runtime.cases import Case, Conversation, check, read_corpus

CASES = read_corpus()


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.id} {case.title}")
def test_session(case: Case) -> None:
    """Each step of the session goes as the case says, and one that fails changes nothing."""
    conversation = Conversation(case)
    for step in case.steps:
        check(step, conversation.perform(step.command))


def test_the_corpus_is_whole() -> None:
    """Every session of builtins.md and every scenario of layer 1 that is one script and its steps is here."""
    ids = {case.id for case in CASES}
    assert ids >= {f"B-{number:03}" for number in (*range(76, 86), 97)}
    assert ids >= {f"R-{number:03}" for number in (*range(9, 19), 22, 24, 25, *range(26, 32))}
