"""Draw docs/assets/report-*.webp: real reports in a real browser.

``python docs/assets/make_report_pictures.py`` trains the models of the demo, audits them as a
folder and takes pictures of the pages with Chromium, driven as in the tests.
"""

from __future__ import annotations

import contextlib
import io
import shutil
import sys
import tempfile
from pathlib import Path

from sklearn.linear_model import LogisticRegression
from skops.io import dump

from glassleak import datasets
from glassleak.cli import main as glassleak

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tests" / "report" / "browser"))

from chromium import Browser, find_chromium  # noqa: E402

MODEL = "ExtraTreesClassifier.skops"


def main() -> None:
    program = find_chromium()
    if program is None:
        raise SystemExit("no Chromium found")
    with tempfile.TemporaryDirectory() as folder, Browser(program) as browser:
        out = audits(Path(folder))
        page = out / f"{MODEL}.audit.html"
        browser.open(page, width=1000)
        end = browser.run("document.querySelector('.questions').getBoundingClientRect().bottom")
        browser.screenshot(HERE / "report-decision.webp", height=end + 24)
        browser.open(page, width=1000, dark=True)
        top, bottom = browser.run(
            "['reconstruction', 'uncertainty'].map((name, i) => { const r = document"
            ".getElementById('question-' + name).getBoundingClientRect();"
            "return window.scrollY + (i ? r.bottom : r.top) })"
        )
        browser.screenshot(HERE / "report-evidence.webp", top=top, height=min(bottom - top, 2300))
        browser.open(out / "summary.html", width=1000)
        end = browser.run("document.getElementById('policy').getBoundingClientRect().top")
        browser.screenshot(HERE / "report-folder.webp", height=end - 30)


def audits(folder: Path) -> Path:
    """Reports of the demo's models, of one that is not supported and of a damaged file."""
    models, out = folder / "models", folder / "audits"
    with contextlib.redirect_stdout(io.StringIO()):
        glassleak(["demo", "--output", str(models)])
        for other in models.iterdir():
            if other.suffix != ".skops":
                shutil.rmtree(other) if other.is_dir() else other.unlink()
        adult = datasets.load("adult", variant="binary")
        dump(LogisticRegression(max_iter=500).fit(adult.data, adult.target),
             models / "LogisticRegression.skops")  # fmt: skip
        (models / "damaged.skops").write_bytes((models / MODEL).read_bytes()[:5_000])
        glassleak(["audit", str(models), "--out", str(out), "--html", "--quiet"])
    return out


if __name__ == "__main__":
    main()
