"""Draw docs/assets/audit.svg: the real output of ``glassleak audit`` on a model of the demo.

``python docs/assets/make_screenshot.py`` runs the demo, audits a file of it and draws the answer.
"""

from __future__ import annotations

import contextlib
import io
import re
import tempfile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme

import glassleak as gl
from glassleak.cli import main as glassleak
from glassleak.report import print_audit

WIDTH = 92
TARGET = Path(__file__).with_name("audit.svg")
# Dark background, and colours that can be told apart on it.
THEME = TerminalTheme(
    (24, 26, 31),
    (215, 218, 224),
    [(24, 26, 31), (240, 113, 120), (126, 211, 133), (229, 192, 96),
     (97, 175, 239), (198, 140, 222), (86, 194, 205), (215, 218, 224)],
)  # fmt: skip


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        with contextlib.redirect_stdout(io.StringIO()):
            glassleak(["demo", "--output", folder])
        model = Path(folder) / "ExtraTreesClassifier.skops"
        report = gl.audit(model)
    console = Console(record=True, width=WIDTH, file=io.StringIO(), highlight=False)
    console.print(f"$ glassleak audit {model.name}", style="bold")
    print_audit(report, console)
    svg = console.export_svg(title="glassleak audit", theme=THEME, unique_id="audit")
    # rich links a web font; a picture in a repository should load nothing from elsewhere.
    svg = re.sub(r"@font-face\s*\{[^}]*\}", "", svg)
    TARGET.write_text("\n".join(line.rstrip() for line in svg.splitlines()) + "\n", "utf-8")


if __name__ == "__main__":
    main()
