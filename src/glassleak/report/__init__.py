"""Results for people: displays of what audits and analyses found."""

from glassleak.report._printable import printable
from glassleak.report._terminal import print_audit
from glassleak.report._uncertainty import print_uncertainty

__all__ = ["print_audit", "print_uncertainty", "printable"]
