"""The meta-refine switch, and a refiner that improves a prompt in bounded rounds (chatmd.md section 3.1,
X-42).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import attrs

VARIABLES = ("CHATML_META_REFINE", "OCHAT_META_REFINE")
TRUE = frozenset(["1", "true", "yes", "on"])
MARKER = "<!-- META_REFINE -->"

Refine = Callable[[str], str]
"""Rewrites the text of a root document before it is parsed."""


def is_enabled(text: str, environment: Mapping[str, str]) -> bool:
    """Whether a text is to be refined: an environment variable says so, or the text holds the marker comment.

    >>> is_enabled("<!-- META_REFINE --><user/>", {}), is_enabled("<user/>", {"CHATML_META_REFINE": "YES"})
    (True, True)
    >>> is_enabled("<user/>", {"CHATML_META_REFINE": "2"})
    False
    """
    return MARKER in text or any(environment.get(name, "").lower() in TRUE for name in VARIABLES)


@attrs.frozen
class Refiner:
    """Improves a prompt with a model: asks for a candidate `rounds` times and keeps the one that scores best.

    `propose` rewrites a prompt, `score` rates one, higher is better; both may call a model and both may
    fail: any exception ends the refinement with the best text so far, which at worst is the one that came
    in.

    >>> refiner = Refiner(propose=lambda text: text + "!", score=len, rounds=2)
    >>> refiner("<user>hi</user>")
    '<user>hi</user>!!\\n<!-- refined: 2 rounds -->'
    """

    propose: Callable[[str], str]
    score: Callable[[str], float]
    rounds: int = 3

    def __call__(self, text: str) -> str:
        best = text
        taken = 0
        try:
            best_score = self.score(text)
            for _ in range(self.rounds):
                candidate = self.propose(best)
                rating = self.score(candidate)
                if rating > best_score:
                    best, best_score = candidate, rating
                    taken += 1
        except Exception:
            # Whatever a model or its client raises, a prompt that could not be improved is still a prompt.
            return best if not taken else _marked(best, taken)
        return best if not taken else _marked(best, taken)


def _marked(text: str, rounds: int) -> str:
    """A refined text with what happened to it, as a comment: a valid document stays valid."""
    return f"{text}\n<!-- refined: {rounds} rounds -->"
