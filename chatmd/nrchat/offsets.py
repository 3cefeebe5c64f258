"""Offsets in other units than code points, for exchange with other languages (nrchat.md S3).

JavaScript, Java and editors count UTF-16 units, other tools UTF-8 bytes. Each function goes over the text
once, however many offsets there are.
"""

from __future__ import annotations

from collections.abc import Iterable

from chatmd.nrchat.errors import OffsetError

UNIT = 2  # bytes of a UTF-16 unit


def to_utf16_offsets(text: str, offsets: Iterable[int]) -> list[int]:
    """Offsets in code points as offsets in UTF-16 units, in the order given.

    >>> to_utf16_offsets("a\\N{ROCKET}b", [1, 2, 3])
    [1, 3, 4]
    """
    return _encoded(text, list(offsets), "utf-16-le", UNIT)


def to_byte_offsets(text: str, offsets: Iterable[int]) -> list[int]:
    """Offsets in code points as offsets in UTF-8 bytes, in the order given.

    >>> to_byte_offsets("a\\N{ROCKET}b", [1, 2, 3])
    [1, 5, 6]
    """
    return _encoded(text, list(offsets), "utf-8", 1)


def from_utf16_offsets(text: str, offsets: Iterable[int]) -> list[int]:
    """Offsets in UTF-16 units as offsets in code points, in the order given.

    Raises `OffsetError`, a `ValueError`, for one in the middle of a character.

    >>> from_utf16_offsets("a\\N{ROCKET}b", [1, 3, 4])
    [1, 2, 3]
    """
    wanted = list(offsets)
    encoded = text.encode("utf-16-le", "surrogatepass")
    _refuse_outside(wanted, len(encoded) // UNIT)
    places: dict[int, int] = {}
    unit = point = 0
    for offset in sorted(set(wanted)):
        if _splits_pair(encoded, offset):
            raise OffsetError(f"the UTF-16 offset {offset} lies in the middle of a character")
        point += len(encoded[unit * UNIT : offset * UNIT].decode("utf-16-le", "surrogatepass"))
        unit = offset
        places[offset] = point
    return [places[offset] for offset in wanted]


def _encoded(text: str, wanted: list[int], encoding: str, unit: int) -> list[int]:
    _refuse_outside(wanted, len(text))
    places: dict[int, int] = {}
    point = place = 0
    for offset in sorted(set(wanted)):
        place += len(text[point:offset].encode(encoding, "surrogatepass")) // unit
        point = offset
        places[offset] = place
    return [places[offset] for offset in wanted]


def _refuse_outside(wanted: list[int], length: int) -> None:
    for offset in wanted:
        if not 0 <= offset <= length:
            raise OffsetError(f"the offset {offset} does not lie in a text of length {length}")


def _splits_pair(encoded: bytes, offset: int) -> bool:
    """Whether a low surrogate stands at a unit and a high one before it."""
    here, before = (encoded[at * UNIT + 1 : at * UNIT + UNIT] for at in (offset, max(offset - 1, 0)))
    return offset > 0 and here != b"" and 0xDC <= here[0] <= 0xDF and 0xD8 <= before[0] <= 0xDB
