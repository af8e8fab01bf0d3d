"""The fix: copies of models that predict the same and carry less about their training rows."""

from glassleak.sanitise._options import Options
from glassleak.sanitise._result import Sanitised
from glassleak.sanitise._sanitise import sanitise, sanitised

__all__ = ["Options", "Sanitised", "sanitise", "sanitised"]
