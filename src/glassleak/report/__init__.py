"""Results for people: displays of what audits and analyses found."""

from glassleak._printable import printable
from glassleak.report._terminal import print_audit
from glassleak.report._uncertainty import print_uncertainty
from glassleak.report.html import (
    read_record,
    render_fleet_html,
    render_html,
    render_record,
)

__all__ = [
    "print_audit",
    "print_uncertainty",
    "printable",
    "read_record",
    "render_fleet_html",
    "render_html",
    "render_record",
]
