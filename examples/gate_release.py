"""Stop a pipeline unless the audit says release.

Run:  python examples/gate_release.py MODEL [REPORT]

The exit code is that of ``glassleak audit``: 0 release, 1 fix or refer, 2 bad input, 4 not
assessed.  Without MODEL a small tree is trained and saved first, so that there is something to see.
"""

import json
import sys
import tempfile
from pathlib import Path

from glassleak.cli import main as glassleak


def gate(model: Path, report: Path) -> int:
    """Audit `model`, keep the record, and say what a release job should do."""
    # The same as on the command line: glassleak audit MODEL --trust sandbox --json REPORT --quiet
    code = glassleak(["audit", str(model), "--trust", "sandbox", "--json", str(report), "--quiet"])
    if report.is_file():
        verdict = json.loads(report.read_text(encoding="utf-8"))["verdict"]
        print(f"{model.name}: {verdict['decision']}")
        for reason in verdict["reasons"]:
            print(f"  {reason['finding'] or reason['analysis']}: {reason['text']}")
    return code


def train(folder: Path) -> Path:
    """A model to gate when none was given."""
    import skops.io
    from sklearn.tree import DecisionTreeClassifier

    from glassleak import datasets

    adult = datasets.load("adult", variant="binary")
    tree = DecisionTreeClassifier(max_leaf_nodes=20, random_state=0)
    skops.io.dump(tree.fit(adult.data, adult.target), folder / "tree.skops")
    return folder / "tree.skops"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        source = Path(sys.argv[1]) if len(sys.argv) > 1 else train(scratch)
        target = Path(sys.argv[2]) if len(sys.argv) > 2 else scratch / "report.json"
        sys.exit(gate(source, target))
