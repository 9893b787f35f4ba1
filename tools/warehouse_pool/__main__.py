"""``python -m tools.warehouse_pool``: draw the warehouse pictures that the lab ships."""

import argparse
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from tools.warehouse_pool.drawing import Drawn, draw
from tools.warehouse_pool.files import write_pool
from tools.warehouse_pool.plan import chosen_sets, with_enough
from vlmlab.core.errors import GenerationError
from vlmlab.core.scenes.concepts import Key
from vlmlab.core.scenes.domain_files import example_text, read_domain_file

WIDTH, HEIGHT = 320, 240


def main() -> None:
    """Draw the pool and say how many sets it serves."""
    parser = argparse.ArgumentParser(prog="python -m tools.warehouse_pool", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder of the pool")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=150, help="number of pictures")
    parser.add_argument("--processes", type=int, default=1, help="pictures drawn at the same time")
    chosen = parser.parse_args()
    domain = read_domain_file(example_text()).domain
    if domain is None:
        parser.error("the example domain is not valid")
    sets = chosen_sets(domain, count=chosen.count)
    with ProcessPoolExecutor(chosen.processes) as processes:
        drawn = processes.map(partial(_drawn, seed=chosen.seed), range(len(sets)), sets)
        pictures = [one for one in drawn if one is not None]
    write_pool(chosen.out, pictures, seed=chosen.seed)
    ample, every = with_enough(domain, [one.concepts for one in pictures])
    print(f"{ample} of {every} valid sets without the hall have five pictures or more.")


def _drawn(number: int, concepts: Key, *, seed: int) -> Drawn | None:
    """Return a picture, or None of a set that does not fit into the hall."""
    try:
        found = draw(concepts, seed=seed, number=number, width=WIDTH, height=HEIGHT)
    except GenerationError as error:
        print(f"{number + 1} is left out: {error.message}", flush=True)
        return None
    print(f"{number + 1}: {', '.join(concepts)}", flush=True)
    return found


if __name__ == "__main__":
    main()
