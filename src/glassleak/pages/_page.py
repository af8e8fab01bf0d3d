"""The frame of every page: one file, no scripts, and a policy that forbids loading anything."""

from __future__ import annotations

import base64
import hashlib

from glassleak.pages._markup import Child, Html, join, tag, text
from glassleak.pages._words import style_sheet


def page(title: str, *body: Child) -> str:
    """A complete HTML document."""
    style = style_sheet()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    # Whatever a record might smuggle in, the browser loads nothing and runs nothing.
    rules = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    head = join(
        Html('<meta charset="utf-8">'),
        Html(f'<meta http-equiv="Content-Security-Policy" content="{rules}">'),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="robots", content="noindex"),
        tag("meta", name="generator", content="glassleak"),
        tag("title", text(title, 200)),
        Html(f"<style>{style}</style>"),
    )
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>{head}</head>\n{tag("body", *body)}\n</html>\n'
    )
