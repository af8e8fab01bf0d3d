"""UCI Adult: 48,842 people of the 1994 census, embedded in the package.

The canonical order is ``adult.data`` (32,561 rows) followed by ``adult.test`` (16,281 rows).
"""

from __future__ import annotations

import io
import itertools
import lzma
from types import MappingProxyType

import pandas as pd

from glassleak.datasets._dataset import Spec, Variant
from glassleak.datasets._recipe import indicators, one_hot, shuffled
from glassleak.schema import Binary, Categorical, Ordinal, Schema

COLUMNS = (
    "age", "workclass", "fnlwgt", "education", "education_num", "marital_status", "occupation",
    "relationship", "race", "sex", "capital_gain", "capital_loss", "hours_per_week",
    "native_country", "income",
)  # fmt: skip

# The medians of the whole table; "high" means at or above.
AGE_HIGH = 37
HOURS_HIGH = 40

EDUCATION = {
    "education_Assoc": ("Assoc-acdm", "Assoc-voc"),
    "education_Bachelors": ("Bachelors",),
    "education_HS-grad": ("HS-grad",),
    "education_Masters_Doctorate": ("Doctorate", "Masters"),
    "education_School_Prof-School": (
        "10th", "11th", "12th", "1st-4th", "5th-6th", "7th-8th", "9th", "Preschool", "Prof-school",
    ),
    "education_Some-college": ("Some-college",),
}  # fmt: skip
OCCUPATION = {
    "occupation_Blue-Collar": (
        "Craft-repair", "Farming-fishing", "Handlers-cleaners", "Machine-op-inspct",
        "Transport-moving",
    ),
    "occupation_Professional": ("Prof-specialty",),
    "occupation_Sales": ("Sales",),
    "occupation_Service": ("Other-service", "Priv-house-serv", "Protective-serv", "Tech-support"),
    "occupation_White-Collar": ("Adm-clerical", "Exec-managerial"),
}  # fmt: skip
WORKCLASS = {
    "workclass_Government": ("Federal-gov", "Local-gov", "State-gov"),
    "workclass_Private": ("Private",),
    "workclass_Self-Employed": ("Self-emp-inc", "Self-emp-not-inc"),
}
MARITAL_STATUS = (
    "Divorced", "Married-AF-spouse", "Married-civ-spouse", "Married-spouse-absent",
    "Never-married", "Separated", "Widowed",
)  # fmt: skip
RELATIONSHIP = (
    "Husband", "Not-in-family", "Other-relative", "Own-child", "Unmarried", "Wife",
)  # fmt: skip
RACE = ("Amer-Indian-Eskimo", "Asian-Pac-Islander", "Black", "Other", "White")
NATIVE_COUNTRY = (
    "?", "Cambodia", "Canada", "China", "Columbia", "Cuba", "Dominican-Republic", "Ecuador",
    "El-Salvador", "England", "France", "Germany", "Greece", "Guatemala", "Haiti",
    "Holand-Netherlands", "Honduras", "Hong", "Hungary", "India", "Iran", "Ireland", "Italy",
    "Jamaica", "Japan", "Laos", "Mexico", "Nicaragua", "Outlying-US(Guam-USVI-etc)", "Peru",
    "Philippines", "Poland", "Portugal", "Puerto-Rico", "Scotland", "South", "Taiwan", "Thailand",
    "Trinadad&Tobago", "United-States", "Vietnam", "Yugoslavia",
)  # fmt: skip

CORELS_COLUMNS = (
    "gender_Female", "gender_Male", "age_high", "age_low", "hours_per_week_high",
    "hours_per_week_low", "occupation_Blue-Collar", "capital_gain_>0", "workclass_Self-Employed",
    "capital_gain_0", "workclass_Private", "education_Masters_Doctorate", "capital_loss_>0",
    "education_Some-college", "occupation_Sales", "education_Assoc", "workclass_Government",
    "occupation_Professional", "occupation_White-Collar", "education_HS-grad",
    "education_School_Prof-School", "capital_loss_0", "occupation_Service", "education_Bachelors",
    "income",
)  # fmt: skip


def parse(content: bytes) -> pd.DataFrame:
    """Read the embedded file."""
    return pd.read_csv(io.BytesIO(lzma.decompress(content)), keep_default_na=False)


def raw(table: pd.DataFrame) -> pd.DataFrame:
    """Keep the table as it is."""
    return table


def binary(table: pd.DataFrame) -> pd.DataFrame:
    """Make the 19 columns of the forest and rule list papers, in the published row order."""
    encoded = indicators(
        {
            "age_high": table["age"] >= AGE_HIGH,
            "capital_gain_>0": table["capital_gain"] > 0,
            "capital_loss_>0": table["capital_loss"] > 0,
            **one_hot(table["education"], EDUCATION),
            "gender_Female": table["sex"] == "Female",
            "hours_per_week_high": table["hours_per_week"] >= HOURS_HIGH,
            **one_hot(table["occupation"], OCCUPATION),
            **one_hot(table["workclass"], WORKCLASS),
            "income": table["income"] == ">50K",
        }
    )
    return shuffled(encoded, seed=99)


def corels(table: pd.DataFrame) -> pd.DataFrame:
    """Make the 24 columns of the CORELS papers: `binary` with every complement."""
    encoded = binary(table)
    complements = {
        "gender_Male": 1 - encoded["gender_Female"],
        "age_low": 1 - encoded["age_high"],
        "hours_per_week_low": 1 - encoded["hours_per_week_high"],
        "capital_gain_0": 1 - encoded["capital_gain_>0"],
        "capital_loss_0": 1 - encoded["capital_loss_>0"],
    }
    return encoded.assign(**complements).loc[:, list(CORELS_COLUMNS)]


def raw_schema() -> Schema:
    """Which profiles variant ``raw`` can hold."""
    return Schema(
        [
            # The extraction kept people over 16, and the census top-codes ages at 90.
            Ordinal("age", 17, 90),
            Categorical("workclass", levels=(
                "?", "Federal-gov", "Local-gov", "Never-worked", "Private", "Self-emp-inc",
                "Self-emp-not-inc", "State-gov", "Without-pay",
            )),
            Ordinal("fnlwgt", 1, 1_500_000),
            Categorical("education", levels=sorted(itertools.chain(*EDUCATION.values()))),
            Ordinal("education_num", 1, 16),
            Categorical("marital_status", levels=MARITAL_STATUS),
            Categorical("occupation", levels=sorted(
                ["?", "Armed-Forces", *itertools.chain(*OCCUPATION.values())]
            )),
            Categorical("relationship", levels=RELATIONSHIP),
            Categorical("race", levels=RACE),
            Categorical("sex", levels=("Female", "Male")),
            Ordinal("capital_gain", 0, 99_999),
            Ordinal("capital_loss", 0, 4_999),
            Ordinal("hours_per_week", 1, 99),
            Categorical("native_country", levels=NATIVE_COUNTRY),
        ]
    )  # fmt: skip


def binary_schema() -> Schema:
    """Which profiles variant ``binary`` can hold."""
    return Schema(
        [
            Binary("age_high"),
            Binary("capital_gain_>0"),
            Binary("capital_loss_>0"),
            Categorical("education", columns=tuple(EDUCATION)),
            Binary("gender_Female"),
            Binary("hours_per_week_high"),
            # Unknown occupations and the armed forces have no column of their own, nor have
            # unknown work classes and people who never worked or work without pay.
            Categorical("occupation", columns=tuple(OCCUPATION), absent=True),
            Categorical("workclass", columns=tuple(WORKCLASS), absent=True),
        ]
    )


def corels_schema() -> Schema:
    """Which profiles variant ``corels`` can hold."""
    return Schema(
        [
            Categorical("gender", columns=("gender_Female", "gender_Male")),
            Categorical("age", columns=("age_high", "age_low")),
            Categorical("hours_per_week", columns=("hours_per_week_high", "hours_per_week_low")),
            Categorical("occupation", columns=tuple(OCCUPATION), absent=True),
            Categorical("capital_gain", columns=("capital_gain_>0", "capital_gain_0")),
            Categorical("workclass", columns=tuple(WORKCLASS), absent=True),
            Categorical("education", columns=tuple(EDUCATION)),
            Categorical("capital_loss", columns=("capital_loss_>0", "capital_loss_0")),
        ]
    )


_RAW_NOTES = (
    "Rows 0 to 32,560 are adult.data, the others adult.test; unknown values are '?'.",
    "education_num follows from education, but the schema counts them as independent.",
    "fnlwgt is the number of people a record stands for; its bounds are generous.",
)
_ENCODED_NOTES = (
    "age and hours_per_week are cut at their medians (at least 37 years, at least 40 hours).",
    "Rows are shuffled with NumPy's RandomState(99), which gives the published order.",
    "Occupation '?' or Armed-Forces, and workclass '?', Never-worked or Without-pay, are all-zero.",
)
_CORELS_NOTES = (
    *_ENCODED_NOTES,
    "The rows of variant 'binary', with each complement as a column of its own.",
    "The columns of one attribute do not stand side by side.",
)

SPEC = Spec(
    name="adult",
    title="Adult (Census Income)",
    n_rows=48_842,
    n_attributes=14,
    parse=parse,
    variants=MappingProxyType(
        {
            "raw": Variant(raw, "income", raw_schema, _RAW_NOTES),
            "binary": Variant(binary, "income", binary_schema, _ENCODED_NOTES),
            "corels": Variant(corels, "income", corels_schema, _CORELS_NOTES),
        }
    ),
    license="CC BY 4.0",
    citation=(
        "Becker, B. and Kohavi, R. (1996). Adult [Dataset]. UCI Machine Learning Repository. "
        "doi:10.24432/C5XW20"
    ),
    source="UCI Machine Learning Repository; embedded (see data/ATTRIBUTION.md)",
    notes=("Changed: both files joined, spaces after commas and final full stops removed.",),
)
