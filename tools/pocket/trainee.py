"""The pocket VLM together with the helper heads that teach it and are dropped when it is saved."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional
from transformers import LlavaForConditionalGeneration

from tools.pocket.packing import IGNORED, PackedBatch
from tools.pocket.truth import ACTIONS, BACKGROUND, STATES


@dataclass(frozen=True)
class VisionTargets:
    """What a batch of ``b`` pictures shows, on ``n`` cells.

    Attributes:
        classes: ``(b, n)`` int64, ``BACKGROUND`` where no thing is.
        states: ``(b, n)`` int64, ``BACKGROUND`` where no thing is.
        boxes: ``(b, n, 4)`` float32 fractions of the picture.
        surroundings: ``(b, k)`` float32, 1 where the concept of the surroundings holds.
        actions: ``(b,)`` int64 index into ``ACTIONS``.
    """

    classes: torch.Tensor
    states: torch.Tensor
    boxes: torch.Tensor
    surroundings: torch.Tensor
    actions: torch.Tensor


class SceneCodes(nn.Module):
    """A learned code for each class, state and surrounding; a cell's code is the sum of what it shows.

    The language model first learns the question on these codes alone; the projector then learns to emit them.
    """

    def __init__(self, classes: int, surroundings: int, *, width: int) -> None:
        super().__init__()
        self.classes = nn.Embedding(classes + 1, width)
        self.states = nn.Embedding(len(STATES) + 1, width)
        self.surroundings = nn.Linear(surroundings, width, bias=False)
        for table in (self.classes, self.states):
            nn.init.normal_(table.weight, 0.0, 0.3)
        nn.init.normal_(self.surroundings.weight, 0.0, 0.3)

    def forward(self, targets: VisionTargets) -> torch.Tensor:
        """Return ``(b, n, width)`` codes."""
        codes: torch.Tensor = self.classes(targets.classes + 1) + self.states(targets.states + 1)
        around: torch.Tensor = self.surroundings(targets.surroundings)
        return codes + around[:, None]


class VisionHeads(nn.Module):
    """Class, state and box of each cell; surroundings and action of the whole picture."""

    def __init__(self, width: int, *, classes: int, surroundings: int, grid: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.classes = nn.Linear(width, classes + 1)
        self.states = nn.Linear(width, len(STATES) + 1)
        self.boxes = nn.Linear(width, 4)
        self.surroundings = nn.Linear(2 * width, surroundings)
        self.actions = nn.Sequential(nn.Linear(2 * width, 64), nn.GELU(), nn.Linear(64, len(ACTIONS)))
        centres = (torch.arange(grid) + 0.5) / grid
        cells = torch.stack([centres.repeat(grid), centres.repeat_interleave(grid)] * 2, dim=-1)
        self.register_buffer("cells", cells)

    def forward(
        self, features: torch.Tensor, targets: VisionTargets
    ) -> tuple[torch.Tensor, dict[str, float]]:
        """Return the summed loss and its readings for ``(b, n, width)`` features."""
        features = self.norm(features)
        seen = targets.classes != BACKGROUND
        wanted_class, wanted_state = targets.classes.flatten() + 1, targets.states.flatten() + 1
        class_loss = _cell_loss(self.classes(features), wanted_class)
        state_logits = self.states(features)
        state_loss = _cell_loss(state_logits, wanted_state)
        boxes = self.boxes(features) * 0.25 + self.cells
        box_loss = (boxes - targets.boxes)[seen].abs().mean() if bool(seen.any()) else boxes.sum() * 0.0
        pooled = torch.cat([features.mean(1), features.amax(1)], dim=-1)
        around_loss = functional.binary_cross_entropy_with_logits(
            self.surroundings(pooled), targets.surroundings
        )
        action_logits = self.actions(pooled)
        action_loss = functional.cross_entropy(action_logits, targets.actions)
        loss = class_loss + state_loss + 3.0 * box_loss + 2.0 * around_loss + action_loss
        right = (action_logits.argmax(-1) == targets.actions).float().mean()
        found = (
            (state_logits.argmax(-1) == targets.states + 1)[seen].float().mean()
            if bool(seen.any())
            else right
        )
        readings = {
            "class": float(class_loss.detach()),
            "state": float(state_loss.detach()),
            "box": float(box_loss.detach()),
            "around": float(around_loss.detach()),
            "action": float(action_loss.detach()),
            "action_right": float(right),
            "state_right": float(found),
        }
        return loss, readings


def _cell_loss(logits: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    weights = torch.ones(logits.shape[-1])
    weights[0] = 0.4
    return functional.cross_entropy(logits.flatten(0, 1), wanted, weight=weights)


class Trainee(nn.Module):
    """The model with its codes and heads."""

    def __init__(
        self,
        vlm: LlavaForConditionalGeneration,
        *,
        classes: Sequence[str],
        surroundings: Sequence[str],
        grid: int,
    ) -> None:
        super().__init__()
        self.vlm = vlm
        self.has_fixed_tower = False
        vlm.model.vision_tower.to(memory_format=torch.channels_last)
        text_width = int(vlm.config.get_text_config().hidden_size)
        vision_width = int(vlm.model.multi_modal_projector.linear_1.in_features)
        self.codes = SceneCodes(len(classes), len(surroundings), width=text_width)
        self.verdict_heads = nn.Sequential(nn.LayerNorm(text_width), nn.Linear(text_width, 1))
        self.heads = VisionHeads(
            vision_width, classes=len(classes), surroundings=len(surroundings), grid=grid
        )

    def fix_tower(self) -> None:
        """Stop the tower from learning, its running statistics included: what it sees stays what it was."""
        self.has_fixed_tower = True
        self.vlm.model.vision_tower.requires_grad_(False)
        self.train()

    def train(self, mode: bool = True) -> "Trainee":  # noqa: FBT001 - the signature of torch
        """Set training mode everywhere but in a fixed tower."""
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
        self, features: torch.Tensor, tokens: torch.Tensor, targets: VisionTargets
    ) -> tuple[torch.Tensor, dict[str, float]]:
        """Return the heads' loss plus the distance between image tokens and the codes of what is there."""
        loss, readings = self.heads(features, targets)
        codes = self.codes(targets).detach()
        weights = torch.where(targets.classes == BACKGROUND, 0.4, 1.5)
        gap = ((tokens - codes) ** 2).mean(-1)
        align = (gap * weights).sum() / weights.sum() / codes.var()
        return loss + 2.0 * align, {**readings, "align": float(align.detach())}

    def letter_loss(self, tokens: torch.Tensor, batch: PackedBatch) -> tuple[torch.Tensor, dict[str, float]]:
        """Return the loss on answers, given ``(b, n, width)`` image tokens.

        A helper head judges each option one layer before the last, which makes letters much easier to learn.
        """
        embedded = self.vlm.get_input_embeddings()(batch.token_ids)
        cells = tokens.shape[1]
        embedded = torch.cat([embedded[:, :1], tokens, embedded[:, 1 + cells :]], dim=1)
        outputs = self.vlm.model.language_model(
            inputs_embeds=embedded,
            attention_mask=batch.attention_mask(),
            position_ids=batch.positions,
            use_cache=False,
            output_hidden_states=True,
        )
        hidden = outputs.last_hidden_state
        judged = batch.verdicts != IGNORED
        verdicts = self.verdict_heads(outputs.hidden_states[-2][judged])[:, 0]
        verdict_loss = functional.binary_cross_entropy_with_logits(verdicts, batch.verdicts[judged].float())
        taught = batch.targets != IGNORED
        logits, wanted, weights = (
            self.vlm.lm_head(hidden[taught]),
            batch.targets[taught],
            batch.weights[taught],
        )
        losses = functional.cross_entropy(logits, wanted, reduction="none")
        is_letter = weights == 1.0
        right = (logits.argmax(-1) == wanted)[is_letter].float().mean()
        letters = losses[is_letter].mean()
        loss = (losses * weights).sum() / weights.sum()
        readings = {
            "letter": float(letters.detach()),
            "letter_right": float(right),
            "verdict": float(verdict_loss.detach()),
        }
        return loss + verdict_loss, readings
