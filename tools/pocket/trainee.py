"""The pocket VLM together with the helper heads that teach it and are dropped when it is saved."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn import functional
from torch.overrides import TorchFunctionMode
from transformers import LlavaForConditionalGeneration

from tools.pocket.packing import CHOICE_WEIGHT, IGNORED, NO_BOX, PackedBatch
from tools.pocket.tokenizer import FIRST_COORDINATES
from tools.pocket.truth import BACKGROUND, CLASSES, STATES, SURROUNDINGS, UNKNOWN

COORDINATE_SPREAD = 1.2
"""Standard deviation of a coordinate's target in steps: a near miss is nearly right."""

BOX_WAVES = (1, 2, 4)


@dataclass(frozen=True)
class VisionTargets:
    """What a batch of ``b`` pictures shows, on ``n`` cells.

    Attributes:
        classes: ``(b, n)`` int64, ``BACKGROUND`` where no thing is.
        states: ``(b, n)`` int64, ``BACKGROUND`` where no thing is.
        boxes: ``(b, n, 4)`` float32 fractions of the picture.
        surroundings: ``(b, k)`` float32, 1 where the concept holds, 0 where not, ``UNKNOWN`` else.
    """

    classes: torch.Tensor
    states: torch.Tensor
    boxes: torch.Tensor
    surroundings: torch.Tensor


class FullPrecisionAttention(TorchFunctionMode):
    """Computes attention in float32 within autocast: its bfloat16 backward pass is slow on CPUs."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Widen the inputs of attention, leave everything else as it is."""
        if func is not functional.scaled_dot_product_attention:
            return func(*args, **(kwargs or {}))
        kind = args[0].dtype
        with torch.autocast("cpu", enabled=False):
            wide = [one.float() if isinstance(one, torch.Tensor) else one for one in args]
            return func(*wide, **(kwargs or {})).to(kind)


class SceneCodes(nn.Module):
    """A learned code for each class, surrounding and box; a cell's code is the sum of what it shows.

    The language model first learns its tasks on these codes alone; the projector then learns to emit them.
    How far away a thing is has no code: the language model has to judge it from the box.
    """

    def __init__(self, *, width: int) -> None:
        super().__init__()
        self.classes = nn.Embedding(len(CLASSES) + 1, width)
        self.surroundings = nn.Linear(len(SURROUNDINGS), width, bias=False)
        self.boxes = nn.Linear(4 * (1 + 2 * len(BOX_WAVES)), width, bias=False)
        nn.init.normal_(self.classes.weight, 0.0, 0.3)
        nn.init.normal_(self.surroundings.weight, 0.0, 0.3)
        nn.init.normal_(self.boxes.weight, 0.0, 0.12)

    def forward(self, targets: VisionTargets) -> torch.Tensor:
        """Return ``(b, n, width)`` codes."""
        codes: torch.Tensor = self.classes(targets.classes + 1)
        around: torch.Tensor = self.surroundings(targets.surroundings.clamp(0.0))
        is_thing = (targets.classes != BACKGROUND)[..., None]
        return codes + around[:, None] + self.boxes(_waves(targets.boxes)) * is_thing


def _waves(boxes: torch.Tensor) -> torch.Tensor:
    centred = 2.0 * boxes - 1.0
    parts = [centred]
    for wave in BOX_WAVES:
        parts += [torch.sin(torch.pi * wave * boxes), torch.cos(torch.pi * wave * boxes)]
    return torch.cat(parts, dim=-1)


class VisionHeads(nn.Module):
    """Class, state and box of each cell; surroundings of the whole picture."""

    def __init__(self, width: int, *, grid: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.classes = nn.Linear(width, len(CLASSES) + 1)
        self.states = nn.Linear(width, len(STATES) + 1)
        self.boxes = nn.Linear(width, 4)
        self.surroundings = nn.Linear(2 * width, len(SURROUNDINGS))
        centres = (torch.arange(grid) + 0.5) / grid
        cells = torch.stack([centres.repeat(grid), centres.repeat_interleave(grid)] * 2, dim=-1)
        self.register_buffer("cells", cells)

    def seen(self, features: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return class logits ``(b, n, c + 1)``, background first, and boxes ``(b, n, 4)`` in fractions."""
        return self._told(self.norm(features))

    def _told(self, normed: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.classes(normed), self.boxes(normed) * 0.25 + self.cells

    def forward(
        self, features: torch.Tensor, targets: VisionTargets
    ) -> tuple[torch.Tensor, dict[str, float]]:
        """Return the summed loss and its readings for ``(b, n, width)`` features."""
        normed = self.norm(features)
        logits, boxes = self._told(normed)
        seen = targets.classes != BACKGROUND
        class_loss = _cell_loss(logits, targets.classes.flatten() + 1)
        state_loss = _cell_loss(self.states(normed), targets.states.flatten() + 1)
        found, wanted = boxes[seen], targets.boxes[seen]
        far = (found - wanted).abs().mean() if len(found) else boxes.sum() * 0.0
        apart = (1.0 - generalised_iou(found, wanted)).mean() if len(found) else boxes.sum() * 0.0
        pooled = torch.cat([normed.mean(1), normed.amax(1)], dim=-1)
        known = (targets.surroundings != UNKNOWN).float()
        around = functional.binary_cross_entropy_with_logits(
            self.surroundings(pooled), targets.surroundings.clamp(0.0), reduction="none"
        )
        around_loss = (around * known).sum() / known.sum()
        loss = class_loss + state_loss + 2.0 * far + apart + 2.0 * around_loss
        readings = {
            "class": float(class_loss.detach()),
            "state": float(state_loss.detach()),
            "box": float(apart.detach()),
            "around": float(around_loss.detach()),
        }
        return loss, readings


def generalised_iou(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    """Return the generalised IoU of ``(n, 4)`` boxes, pairwise by row (Rezatofighi et al. 2019)."""
    low, high = torch.maximum(first[:, :2], second[:, :2]), torch.minimum(first[:, 2:], second[:, 2:])
    shared = (high - low).clamp(min=0.0).prod(-1)
    areas = [(one[:, 2:] - one[:, :2]).clamp(min=0.0).prod(-1) for one in (first, second)]
    union = areas[0] + areas[1] - shared
    hull_low, hull_high = (
        torch.minimum(first[:, :2], second[:, :2]),
        torch.maximum(first[:, 2:], second[:, 2:]),
    )
    hull = (hull_high - hull_low).clamp(min=0.0).prod(-1)
    return shared / union.clamp(min=1e-6) - (hull - union) / hull.clamp(min=1e-6)


def _far_off(told: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    told = told * 0.25 + 0.5
    return 2.0 * (told - wanted).abs().mean() + (1.0 - generalised_iou(told, wanted)).mean()


def _cell_loss(logits: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    weights = torch.ones(logits.shape[-1])
    weights[0] = 0.4
    return functional.cross_entropy(logits.flatten(0, 1).float(), wanted, weight=weights)


class Trainee(nn.Module):
    """The model with its codes and heads.

    Args:
        vlm: the model to teach.
        grid: cells along each side of its picture.
        coordinates: numbers of the tokens of both rows of coordinates, each in the order of its steps; some
            of them are learnt words too, so they need not follow each other.
    """

    def __init__(
        self, vlm: LlavaForConditionalGeneration, *, grid: int, coordinates: Sequence[Sequence[int]]
    ) -> None:
        super().__init__()
        self.vlm = vlm
        self.has_fixed_tower = False
        vlm.model.vision_tower.to(memory_format=torch.channels_last)
        text_width = int(vlm.config.get_text_config().hidden_size)
        vision_width = int(vlm.model.multi_modal_projector.linear_1.in_features)
        self.codes = SceneCodes(width=text_width)
        self.box_heads = nn.Sequential(nn.LayerNorm(text_width), nn.Linear(text_width, 4))
        self.place_heads = nn.Sequential(nn.LayerNorm(text_width), nn.Linear(text_width, 4))
        self.verdict_heads = nn.Sequential(nn.LayerNorm(text_width), nn.Linear(text_width, 1))
        self.heads = VisionHeads(vision_width, grid=grid)
        steps = torch.arange(len(FIRST_COORDINATES), dtype=torch.float32)
        gaps = (steps[:, None] - steps[None, :]) / COORDINATE_SPREAD
        self.register_buffer("near", torch.softmax(-0.5 * gaps**2, dim=-1), persistent=False)
        rows = torch.tensor([list(row) for row in coordinates])
        places = torch.full((int(vlm.get_input_embeddings().weight.shape[0]),), -1)
        for row in rows:
            places[row] = torch.arange(len(row))
        self.register_buffer("rows", rows, persistent=False)
        self.register_buffer("places", places, persistent=False)

    def train(self, mode: bool = True) -> "Trainee":  # noqa: FBT001 - the signature of torch
        """Set training mode everywhere but in a fixed tower, whose running statistics stay what they were."""
        super().train(mode)
        if self.has_fixed_tower:
            self.vlm.model.vision_tower.train(mode=False)
        return self

    def see(self, pixels: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the tower's features and the projected image tokens of ``(b, 3, side, side)`` in [-1, 1]."""
        with torch.autocast("cpu", torch.bfloat16, enabled=self.training):  # 1.7 times faster with AMX
            pixels = pixels.contiguous(memory_format=torch.channels_last)
            features = self.vlm.model.vision_tower(pixels, output_hidden_states=True).hidden_states[-1]
            tokens = self.vlm.model.multi_modal_projector(features)
        return features.float(), tokens.float()

    def vision_loss(
        self, features: torch.Tensor, tokens: torch.Tensor, targets: VisionTargets, *, aligns: bool
    ) -> tuple[torch.Tensor, dict[str, float]]:
        """Return the heads' loss; with ``aligns`` also the distance of image tokens from what is there."""
        loss, readings = self.heads(features, targets)
        if not aligns:
            return loss, readings
        codes = self.codes(targets).detach()
        weights = torch.where(targets.classes == BACKGROUND, 0.4, 1.5)
        gap = ((tokens - codes) ** 2).mean(-1)
        align = (gap * weights).sum() / weights.sum() / codes.var()
        return loss + 2.0 * align, {**readings, "align": float(align.detach())}

    def answer_loss(self, tokens: torch.Tensor, batch: PackedBatch) -> tuple[torch.Tensor, dict[str, float]]:
        """Return the loss on answers, given ``(b, n, width)`` image tokens.

        Helper heads judge each option and statement, and tell the box that comes next, one layer before the
        last, and tell the box of a named thing at its name, half-way up: which makes all of it much easier to
        learn. A coordinate's neighbours are nearly as right as itself.
        """
        embedded = self.vlm.get_input_embeddings()(batch.token_ids)
        cells = tokens.shape[1]
        embedded = torch.cat([embedded[:, :1], tokens, embedded[:, 1 + cells :]], dim=1)
        with torch.autocast("cpu", torch.bfloat16, enabled=self.training), FullPrecisionAttention():
            outputs = self.vlm.model.language_model(
                inputs_embeds=embedded,
                attention_mask=batch.attention_mask(),
                position_ids=batch.positions,
                use_cache=False,
                output_hidden_states=True,
            )
        verdict_loss = self._verdict_loss(outputs.hidden_states[-2], batch)
        box_loss = self._box_loss(outputs.hidden_states[-2], batch)
        place_loss = self._place_loss(outputs.hidden_states[len(outputs.hidden_states) // 2], batch)
        taught = batch.targets != IGNORED
        logits = self.vlm.lm_head(outputs.last_hidden_state[taught].float())
        wanted, weights = batch.targets[taught], batch.weights[taught]
        losses = self._losses(logits, wanted)
        is_choice, is_coordinate = weights == CHOICE_WEIGHT, self._is_coordinate(wanted)
        loss = (losses * weights).sum() / weights.sum()
        guessed = logits.argmax(-1)
        readings = {
            "choice_right": float((guessed == wanted)[is_choice].float().mean()),
            "verdict": float(verdict_loss.detach()),
            "told_box": float(box_loss.detach()),
            "told_place": float(place_loss.detach()),
            "coordinate": float(losses[is_coordinate].mean().detach()),
            "steps_off": float(self._steps_off(guessed, wanted)[is_coordinate].median()),
        }
        return loss + 0.7 * verdict_loss + 0.7 * box_loss + place_loss, readings

    def _verdict_loss(self, hidden: torch.Tensor, batch: PackedBatch) -> torch.Tensor:
        """Return how wrongly options and statements are judged, each at its last token."""
        judged = batch.verdicts != IGNORED
        if not bool(judged.any()):
            return hidden.sum() * 0.0
        verdicts = self.verdict_heads(hidden[judged].float())[:, 0]
        return functional.binary_cross_entropy_with_logits(verdicts, batch.verdicts[judged].float())

    def _box_loss(self, hidden: torch.Tensor, batch: PackedBatch) -> torch.Tensor:
        """Return how far the told boxes are from those of the answers, at the token before each box."""
        opens = torch.isin(batch.targets, self.rows[0])
        if not bool(opens.any()):
            return hidden.sum() * 0.0
        lines, places = opens.nonzero(as_tuple=True)
        tokens = torch.stack([batch.targets[lines, places + offset] for offset in range(4)], dim=-1)
        wanted = self.places[tokens].float() / (len(FIRST_COORDINATES) - 1)
        return _far_off(self.box_heads(hidden[opens].float()), wanted)

    def _place_loss(self, hidden: torch.Tensor, batch: PackedBatch) -> torch.Tensor:
        """Return how far the boxes told at the names of things are from theirs."""
        named = batch.boxes[..., 0] != NO_BOX
        if not bool(named.any()):
            return hidden.sum() * 0.0
        return _far_off(self.place_heads(hidden[named].float()), batch.boxes[named])

    def _is_coordinate(self, wanted: torch.Tensor) -> torch.Tensor:
        return self.places[wanted] >= 0

    def _steps_off(self, guessed: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
        """Return how many steps guessed coordinates are off; what is no coordinate is off by all of them."""
        off = (self.places[guessed] - self.places[wanted]).abs().float()
        return off.masked_fill(self.places[guessed] < 0, float(len(FIRST_COORDINATES)))

    def _losses(self, logits: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
        losses = functional.cross_entropy(logits, wanted, reduction="none")
        likely = functional.log_softmax(logits, dim=-1)
        for row in self.rows:
            own = torch.isin(wanted, row)
            near = self.near[self.places[wanted[own]]]
            soft = -(near * likely[own][:, row]).sum(-1)
            losses = losses.masked_scatter(own, soft)
        return losses
