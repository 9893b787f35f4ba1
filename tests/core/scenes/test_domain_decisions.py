"""Deciding many sets at once gives the rule that deciding them one by one gives."""

import numpy as np
import pytest

from vlmlab.core.scenes.catalogue import DOMAIN_SLUGS, load_domain
from vlmlab.core.scenes.domain_decisions import NO_RULE, deciding_rules
from vlmlab.core.scenes.domain_files import check_domain_file


@pytest.mark.parametrize("slug", DOMAIN_SLUGS)
def test_rules_decide_many_sets_as_they_decide_one(slug):
    domain = load_domain(slug)
    masks = np.random.default_rng(4).choice(domain.universe(), 1500, replace=False)

    found = [domain.rules[place].id for place in deciding_rules(domain, masks)]

    assert found == [domain.decide(domain.key_of(mask)).rule_id for mask in masks]


def test_a_set_that_no_rule_speaks_of_has_none():
    checked = check_domain_file(
        "slug: a\nactions: [{id: x}, {id: y}]\nquestion: '{options}'\nconcepts: [{id: p}, {id: q}]\n"
        "rules: [{id: r, when: {has: [q], lacks: [p]}, action: x}]\n"
    )

    assert deciding_rules(checked.domain, np.array([1, 2, 3])).tolist() == [NO_RULE, 0, NO_RULE]
