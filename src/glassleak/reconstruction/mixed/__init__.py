"""Tables with numbers and many categories, whose cells cannot be enumerated: search over rows."""

from glassleak.reconstruction.mixed._attack import attack_rows, searchable

__all__ = ["attack_rows", "searchable"]
