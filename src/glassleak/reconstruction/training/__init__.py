"""What the seeds tell about the columns every split looked at, and the cells that settles."""

from glassleak.reconstruction.training._gate import choices_can_be_repeated
from glassleak.reconstruction.training._refine import Refined
from glassleak.reconstruction.training._settle import settle_open_cells

__all__ = ["Refined", "choices_can_be_repeated", "settle_open_cells"]
