"""Bounds and estimates of several pieces together."""

from __future__ import annotations

import pytest

from glassleak.uncertainty.joint._bits import Bits, total


def test_bits_of_independent_pieces_add_up():
    both = total([Bits.known(3.0), Bits(1.0, 5.0, False, 2.0, 0.3, sampled=True)])
    assert (both.low, both.high, both.exact, both.guess) == (4.0, 8.0, False, 5.0)
    assert both.error == pytest.approx(0.3)
    assert total([Bits.known(3.0), Bits(1.0, 5.0, False)]).guess is None
    assert total([]).exact


def test_an_estimate_that_contradicts_the_proof_is_none():
    assert Bits(4.0, 8.0, False, 3.0, 0.1, sampled=True).guess is None
    assert Bits(4.0, 8.0, False, 3.9, 0.1, sampled=True).guess == 4.0
    assert Bits(4.0, 8.0, False, 9.0, 0.1, sampled=True).guess is None


def test_one_more_upper_bound():
    assert Bits(1.0, 8.0, False).at_most(5.0).high == 5.0
    assert Bits(1.0, 8.0, False).at_most(9.0).high == 8.0
    assert Bits.known(2.0).at_most(1.0) == Bits.known(2.0)
