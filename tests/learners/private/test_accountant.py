from fractions import Fraction

import pytest

from glassleak.errors import GlassleakError
from glassleak.learners.private._accountant import Accountant, BudgetOverspentError


def test_adds_up_exactly():
    accountant = Accountant(Fraction(1))
    for i in range(10):
        accountant.spend(Fraction(1, 10), f"rule {i}", "permute-and-flip")
    assert accountant.left == 0
    assert accountant.spent == 1
    assert [expense.what for expense in accountant.ledger] == [f"rule {i}" for i in range(10)]


def test_refuses_to_be_overspent_and_records_nothing():
    accountant = Accountant(Fraction(1))
    accountant.spend(Fraction(2, 3), "rules", "permute-and-flip")
    with pytest.raises(BudgetOverspentError, match=r"leaf counts would cost 0\.5, .* 0\.333"):
        accountant.spend(Fraction(1, 2), "leaf counts", "discrete Laplace")
    assert accountant.left == Fraction(1, 3)
    assert len(accountant.ledger) == 1
    assert issubclass(BudgetOverspentError, GlassleakError)


@pytest.mark.parametrize("epsilon", [0, -1])
def test_free_access_is_refused(epsilon):
    with pytest.raises(ValueError, match="costs something"):
        Accountant(Fraction(1)).spend(Fraction(epsilon), "a look", "none")
    with pytest.raises(ValueError, match="positive"):
        Accountant(Fraction(epsilon))
