"""UCI Default of Credit Card Clients: 30,000 card holders in Taiwan, April to September 2005."""

from __future__ import annotations

import io
from types import MappingProxyType

import numpy as np
import pandas as pd

from glassleak.datasets._dataset import Spec, Variant
from glassleak.datasets._recipe import indicators, one_hot, shuffled
from glassleak.schema import Binary, Categorical, Numeric, Ordinal, Schema

TARGET = "default.payment.next.month"

EDUCATION = {
    "EDUCATION_Graduate_school": (1,),
    "EDUCATION_High_school": (3,),
    "EDUCATION_Others": (4, 5, 6),
    "EDUCATION_University": (2,),
}
MARRIAGE = {"MARRIAGE_Married": (1,), "MARRIAGE_Others": (0, 3), "MARRIAGE_Single": (2,)}
# The source's own gap: it calls the latest month PAY_0 and the one before it PAY_2.
PAY = ("PAY_0", "PAY_2", "PAY_3", "PAY_4", "PAY_5", "PAY_6")
BILL_AMOUNTS = tuple(f"BILL_AMT{month}" for month in range(1, 7))
# The medians of the rows that are kept; "high" means at or above.
LIMIT_HIGH = 140_000
PAY_AMOUNT_HIGH = {
    "PAY_AMT1": 2_100,
    "PAY_AMT2": 2_009,
    "PAY_AMT3": 1_800,
    "PAY_AMT4": 1_500,
    "PAY_AMT5": 1_500,
    "PAY_AMT6": 1_500,
}


def parse(content: bytes) -> pd.DataFrame:
    """Read the cached file without its row numbers."""
    table = pd.read_csv(io.BytesIO(content)).drop(columns="ID")
    # Amounts are written as 20000.0 but all of them are whole.
    return table.astype(np.int64)


def raw(table: pd.DataFrame) -> pd.DataFrame:
    """Keep the table as it is."""
    return table


def binary(table: pd.DataFrame) -> pd.DataFrame:
    """Make the 21 columns of the forest papers, in the published row order."""
    kept = _known_education(table)
    encoded = indicators(
        {
            **one_hot(kept["EDUCATION"], EDUCATION),
            "LIMIT_BAL_high": kept["LIMIT_BAL"] >= LIMIT_HIGH,
            **one_hot(kept["MARRIAGE"], MARRIAGE),
            **_delays(kept),
            **{f"{name}_high": kept[name] >= cut for name, cut in PAY_AMOUNT_HIGH.items()},
            "SEX_Female": kept["SEX"] == 2,
            "DEFAULT_PAYEMENT": kept[TARGET] == 1,
        }
    )
    return shuffled(encoded, seed=99)


def numerical(table: pd.DataFrame) -> pd.DataFrame:
    """Amounts and age as they are, the rest one-hot, in the published row order."""
    kept = _known_education(table)
    numbers = kept[["LIMIT_BAL", "AGE", *BILL_AMOUNTS, *PAY_AMOUNT_HIGH]]
    encoded = indicators(
        {
            "SEX_Male": kept["SEX"] == 1,
            **one_hot(kept["EDUCATION"], EDUCATION),
            **one_hot(kept["MARRIAGE"], MARRIAGE),
            **_delays(kept),
            "DEFAULT_PAYEMENT": kept[TARGET] == 1,
        }
    )
    return shuffled(pd.concat([numbers, encoded], axis=1), seed=99)


def _known_education(table: pd.DataFrame) -> pd.DataFrame:
    # 0 is not in the codebook; the published tables leave those 14 people out.
    return table[table["EDUCATION"] != 0].reset_index(drop=True)


def _delays(table: pd.DataFrame) -> dict[str, pd.Series]:
    return {_delay(name): table[name] >= 1 for name in PAY}


def _delay(name: str) -> str:
    return f"{name}_Pay_delay>=1"


def raw_schema() -> Schema:
    """Which profiles variant ``raw`` can hold."""
    return Schema(
        [
            _credit_limit(),
            Categorical("SEX", levels=(1, 2)),
            Categorical("EDUCATION", levels=(0, 1, 2, 3, 4, 5, 6)),
            Categorical("MARRIAGE", levels=(0, 1, 2, 3)),
            Ordinal("AGE", 18, 100),
            *(Ordinal(name, -2, 9) for name in PAY),
            *_amounts(),
        ]
    )


def binary_schema() -> Schema:
    """Which profiles variant ``binary`` can hold."""
    return Schema(
        [
            Categorical("EDUCATION", columns=tuple(EDUCATION)),
            Binary("LIMIT_BAL_high"),
            Categorical("MARRIAGE", columns=tuple(MARRIAGE)),
            *(Binary(_delay(name)) for name in PAY),
            *(Binary(f"{name}_high") for name in PAY_AMOUNT_HIGH),
            Binary("SEX_Female"),
        ]
    )


def numerical_schema() -> Schema:
    """Which profiles variant ``numerical`` can hold."""
    return Schema(
        [
            _credit_limit(),
            Ordinal("AGE", 18, 100),
            *_amounts(),
            Binary("SEX_Male"),
            Categorical("EDUCATION", columns=tuple(EDUCATION)),
            Categorical("MARRIAGE", columns=tuple(MARRIAGE)),
            *(Binary(_delay(name)) for name in PAY),
        ]
    )


def _credit_limit() -> Numeric:
    return Numeric("LIMIT_BAL", 0, 1_000_000, resolution=1)


def _amounts() -> list[Numeric]:
    # Whole New Taiwan dollars, with round bounds; a bill is negative after overpayment.
    bills = [Numeric(name, -1_000_000, 2_000_000, resolution=1) for name in BILL_AMOUNTS]
    return bills + [Numeric(name, 0, 2_000_000, resolution=1) for name in PAY_AMOUNT_HIGH]


_RAW_NOTES = ("EDUCATION 0, 5 and 6 and MARRIAGE 0 occur but are not in the codebook.",)
_ENCODED_NOTES = (
    "29,986 rows as published: the 14 people with EDUCATION 0 are left out.",
    "EDUCATION 4, 5 and 6 and MARRIAGE 0 and 3 count as Others.",
    "Rows are shuffled with NumPy's RandomState(99), which gives the published order.",
    "The target's name is spelt as published.",
)
_BINARY_NOTES = (
    *_ENCODED_NOTES,
    "LIMIT_BAL and PAY_AMT1 to 6 are cut at their medians; AGE and the bills are not used.",
)

SPEC = Spec(
    name="default_credit",
    title="Default of Credit Card Clients",
    n_rows=30_000,
    n_attributes=23,
    parse=parse,
    variants=MappingProxyType(
        {
            "raw": Variant(raw, TARGET, raw_schema, _RAW_NOTES),
            "binary": Variant(binary, "DEFAULT_PAYEMENT", binary_schema, _BINARY_NOTES),
            "numerical": Variant(numerical, "DEFAULT_PAYEMENT", numerical_schema, _ENCODED_NOTES),
        }
    ),
    license="CC BY 4.0",
    citation=(
        "Yeh, I. (2009). Default of Credit Card Clients [Dataset]. UCI Machine Learning "
        "Repository. doi:10.24432/C55S3H"
    ),
    source="UCI Machine Learning Repository, from mercury-robust 1.2.1",
    notes=("Changed: the row number ID is dropped, amounts are whole numbers.",),
)
