"""Prompts and stand-ins for generators that tests of text operators share."""

import numpy as np

PROMPT = (
    "Locate every traffic cone in the picture. Answer with a JSON list of boxes such as "
    '[{"label": "traffic cone", "box_2d": [12, 40, 310, 400]}], in pixels. If there is none, answer [].'
)
FORMAT = '[{"label": "traffic cone", "box_2d": [12, 40, 310, 400]}]'
FOREIGN = (
    "Найди чашку на столе.",
    "カップを探してください。",
    "पानी का गिलास कहाँ है?",
    "Où est l’élève d’à côté ?",
    "اعثر على الكوب",
    'The label says "don\'t".',
)


class Draws:
    """Gives the numbers it was made of, in place of a generator."""

    def __init__(self, *rows):
        self.rows = rows

    def random(self, shape):
        numbers = np.array(self.rows, dtype=float)
        assert numbers.shape == tuple(shape)
        return numbers

    def permutation(self, size):
        return np.arange(size)


def rng(seed=0):
    return np.random.default_rng(seed)
