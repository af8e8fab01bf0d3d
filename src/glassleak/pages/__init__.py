"""Pages for people, made from JSON records: no live objects, no network, no scripts."""

from glassleak.pages._audit_page import audit_page
from glassleak.pages._fleet_page import fleet_page

__all__ = ["audit_page", "fleet_page"]
