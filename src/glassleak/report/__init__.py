"""Audits for people: displays of what `glassleak.audit` found."""

from glassleak.report._printable import printable
from glassleak.report._terminal import print_audit

__all__ = ["print_audit", "printable"]
