"""The table from an object's kind to the function that builds it."""

from collections.abc import Callable

import numpy as np

from vlmlab.core.scenes.render.builders import people, props, street, vehicles
from vlmlab.core.scenes.render.mesh import Mesh
from vlmlab.core.scenes.scene import SceneObject

Builder = Callable[[SceneObject, np.random.Generator], Mesh]

BUILDERS: dict[str, Builder] = {
    "pedestrian": people.build_pedestrian,
    "child_pedestrian": people.build_child,
    "wheelchair_pedestrian": people.build_wheelchair_user,
    "police_pedestrian": people.build_police_officer,
    "cyclist": people.build_cyclist,
    "emergency_vehicle": vehicles.build_emergency_vehicle,
    "cone": props.build_cone,
    "garbage_bin": props.build_garbage_bin,
    "container": props.build_container,
    "debris": props.build_debris,
    "chain_barrier": props.build_chain_barrier,
    "bus_stop": street.build_bus_stop,
    "traffic_light": street.build_traffic_light,
    "tree": street.build_tree,
    "lamp": street.build_lamp,
    "hydrant": street.build_hydrant,
    "car": vehicles.build_car,
}
