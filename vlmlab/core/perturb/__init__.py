"""Perturbations of pictures and prompts with a continuous severity: MoST's operators."""

from vlmlab.core.perturb.image_operators import IMAGE_OPERATORS, perturb_image
from vlmlab.core.perturb.text import TEXT_OPERATORS, perturb_text

__all__ = ["IMAGE_OPERATORS", "TEXT_OPERATORS", "perturb_image", "perturb_text"]
