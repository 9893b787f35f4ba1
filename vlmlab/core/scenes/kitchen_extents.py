"""How far each thing of a kitchen reaches from its anchor, for what lays them out and aims the camera."""

from dataclasses import dataclass


@dataclass(frozen=True)
class KitchenExtent:
    """Bounds of a kind around its anchor before its yaw, metres; a test holds the builders to them.

    Attributes:
        x_min, x_max: across; x grows to the right at yaw 0.
        y_min, y_max: depth; negative y is towards the camera at yaw 0.
        z_min, z_max: height; things at the edge of the counter reach down to the floor.
    """

    x_min: float
    x_max: float
    y_min: float
    y_max: float
    z_min: float
    z_max: float


KITCHEN_EXTENTS: dict[str, KitchenExtent] = {
    "glass_upright": KitchenExtent(-0.06, 0.06, -0.06, 0.06, 0.00, 0.20),
    "glass_tipped": KitchenExtent(-0.46, 0.42, -0.50, 0.18, -0.92, 0.12),
    "coffee_spill": KitchenExtent(-0.30, 0.30, -0.04, 0.30, -0.60, 0.10),
    "wet_floor": KitchenExtent(-0.56, 0.58, -0.46, 0.46, 0.00, 0.02),
    "hot_beverage": KitchenExtent(-0.10, 0.10, -0.02, 0.10, 0.00, 0.40),
    "pill_bottle": KitchenExtent(-0.10, 0.16, -0.16, 0.06, -0.02, 0.16),
    "knife_edge": KitchenExtent(-0.14, 0.20, -0.22, 0.28, 0.00, 0.04),
    "knife_block": KitchenExtent(-0.16, 0.16, -0.16, 0.18, 0.00, 0.28),
    "scissors_open": KitchenExtent(-0.16, 0.16, -0.22, 0.20, -0.02, 0.04),
    "glass_floor": KitchenExtent(-0.38, 0.40, -0.28, 0.26, 0.00, 0.16),
    "cabinet_open": KitchenExtent(-0.66, 0.66, -0.46, 0.60, 0.00, 0.88),
    "cabinet_closed": KitchenExtent(-0.46, 0.46, -0.08, 0.60, 0.00, 0.88),
    "stove_on": KitchenExtent(-0.26, 0.26, -0.22, 0.20, -0.02, 0.08),
    "towel_near": KitchenExtent(-0.08, 0.20, -0.36, -0.18, -0.34, 0.06),
    "towel_burning": KitchenExtent(-0.24, 0.38, -0.36, -0.18, -0.34, 0.98),
    "smoke": KitchenExtent(-0.34, 0.70, -0.50, 0.28, 0.00, 1.44),
    "pan_stove": KitchenExtent(-0.32, -0.02, -0.52, 0.02, 0.02, 0.12),
    "pan_counter": KitchenExtent(-0.18, 0.18, -0.20, 0.34, 0.00, 0.38),
    "outlet_exposed": KitchenExtent(-0.14, 0.14, -0.10, 0.02, -0.18, 0.18),
    "outlet_covered": KitchenExtent(-0.08, 0.08, -0.02, 0.00, -0.10, 0.10),
    "loose_cord_floor": KitchenExtent(-0.54, 0.64, -0.20, 0.22, 0.00, 0.06),
    "microwave_open_hot": KitchenExtent(-0.42, 0.26, -0.58, 0.18, 0.00, 0.54),
    "toddler_standing": KitchenExtent(-0.14, 0.14, -0.18, 0.08, 0.00, 0.92),
    "child_running": KitchenExtent(-0.40, 0.38, -0.48, 0.50, -0.02, 1.18),
    "child_reaching": KitchenExtent(-0.20, 0.18, -0.34, 0.08, 0.00, 0.90),
    "child_far_microwave": KitchenExtent(-0.16, 0.16, -0.32, 0.28, 0.00, 1.02),
    "child_near_microwave": KitchenExtent(-0.16, 0.18, -0.20, 0.10, -0.02, 1.08),
    "child_near_pan": KitchenExtent(-0.20, 0.18, -0.38, 0.08, 0.00, 0.98),
    "child_on_stool": KitchenExtent(-0.20, 0.20, -0.24, 0.20, -0.02, 1.68),
    "adult_reacting": KitchenExtent(-0.46, 0.32, -0.72, 0.12, -0.02, 1.70),
    "barefoot_near_glass": KitchenExtent(-0.16, 0.14, -0.28, 0.24, 0.00, 0.90),
    "barefoot_child_safe": KitchenExtent(-0.14, 0.14, -0.18, 0.08, -0.02, 0.92),
    "toaster": KitchenExtent(-0.14, 0.14, -0.08, 0.08, 0.00, 0.18),
    "kettle": KitchenExtent(-0.10, 0.10, -0.10, 0.10, 0.00, 0.20),
    "apples": KitchenExtent(-0.14, 0.14, -0.14, 0.14, 0.00, 0.16),
    "plant": KitchenExtent(-0.14, 0.14, -0.14, 0.14, 0.00, 0.24),
    "utensils": KitchenExtent(-0.06, 0.06, -0.06, 0.06, 0.00, 0.36),
    "bread": KitchenExtent(-0.14, 0.14, -0.10, 0.10, 0.00, 0.10),
}
