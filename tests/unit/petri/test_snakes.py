"""Place/transition nets have the markings that SNAKES finds."""

import random
import warnings

import pytest

from pagecast.petri import Net

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from snakes import nets as snakes

MOST_NODES = 400


def drawn(seed):
    """Draw a net: tokens of each place, and for each transition what it takes from places and gives them."""
    chance = random.Random(seed)
    places = [chance.randrange(3) for _ in range(chance.randint(2, 5))]
    arcs = [
        [[chance.choice((0, 0, 1, 2)) for _ in places] for _ in range(2)] for _ in range(chance.randint(1, 4))
    ]
    for takes, gives in arcs:
        # What is given is no more than what is taken: the markings are bounded.
        while sum(gives) > sum(takes):
            at = chance.choice([number for number, count in enumerate(gives) if count])
            gives[at] -= 1
    return places, [arc for arc in arcs if sum(arc[0])]


def ours(places, arcs):
    net = Net("drawn")
    net.declare("colset UNIT = unit;")
    nodes = [net.place(f"P{n}", "UNIT", f"{count}`()" if count else "") for n, count in enumerate(places)]
    for number, (takes, gives) in enumerate(arcs):
        transition = net.transition(f"T{number}")
        for node, taken, given in zip(nodes, takes, gives, strict=True):
            if taken:
                net.arc(node, transition, f"{taken}`()")
            if given:
                net.arc(transition, node, f"{given}`()")
    return net.state_space(max_nodes=MOST_NODES)


def theirs(places, arcs):
    net = snakes.PetriNet("drawn")
    for number, count in enumerate(places):
        net.add_place(snakes.Place(f"P{number}", [snakes.dot] * count))
    for number, (takes, gives) in enumerate(arcs):
        net.add_transition(snakes.Transition(f"T{number}"))
        for place, count in enumerate(takes):
            if count:
                net.add_input(f"P{place}", f"T{number}", snakes.MultiArc([snakes.Value(snakes.dot)] * count))
        for place, count in enumerate(gives):
            if count:
                net.add_output(f"P{place}", f"T{number}", snakes.MultiArc([snakes.Value(snakes.dot)] * count))
    graph = snakes.StateGraph(net)
    graph.build()
    return graph


@pytest.mark.parametrize("seed", range(40))
def test_markings_and_arcs_are_those_of_snakes(seed):
    places, arcs = drawn(seed)
    space, graph = ours(places, arcs), theirs(places, arcs)
    assert space.is_complete
    assert space.nodes == len(graph)
    assert space.arcs == sum(len(list(graph.successors(node))) for node in graph)
    assert len(space.dead_markings) == sum(not list(graph.successors(node)) for node in graph)
