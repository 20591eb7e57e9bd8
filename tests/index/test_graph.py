"""The bucket graph: seeds, links, scores, and what hidden rows never influence."""

import random
from itertools import pairwise

import pytest
from graph_index import World

from redask.index.graph import traversal

OPEN = frozenset(["all"])


@pytest.fixture
def world() -> World:
    return World()


def opera(world: World) -> dict[str, str]:
    """A composer, an opera that mentions him, and the town that it mentions."""
    return {
        "verdi": world.put("verdi", name="Giuseppe Verdi", text="born near the river Po"),
        "aida": world.put(
            "aida", title="Aida (opera)", text="composed by Giuseppe Verdi for Cairo"
        ),
        "cairo": world.put("cairo", name="Cairo", text="a large town on the Nile"),
        "other": world.put("other", name="Fidelio", text="another opera"),
    }


# --- seeds ---------------------------------------------------------------------------------


def test_at_depth_0_only_what_the_question_names_is_found(world: World) -> None:
    known = opera(world)
    assert world.reached("Who composed Aida?", depth=0) == [known["aida"]]


def test_a_name_is_known_with_and_without_its_last_brackets(world: World) -> None:
    known = opera(world)
    assert world.reached("Who wrote the Aida (opera)?", depth=0) == [known["aida"]]


def test_the_longest_name_wins(world: World) -> None:
    world.put("york", name="New York")
    times = world.put("times", name="New York Times")
    assert world.reached("Who owns the New York Times?", depth=0) == [times]


def test_a_question_word_is_not_taken_for_a_name(world: World) -> None:
    world.put("who", name="Who")
    world.put("it", name="It")
    assert world.reached("Who wrote it?", depth=0) == []


def test_a_name_is_found_among_its_words_as_written_not_among_their_stems(world: World) -> None:
    world.put("universal", name="Universal")
    assert world.reached("Which university is it?", depth=0) == []


def test_an_entity_with_a_literal_of_the_question_is_a_seed(world: World) -> None:
    ticket = world.put("1", text="see CVE-2023-22809")
    world.put("2", text="see CVE-2023-22810")
    assert world.reached("What about CVE-2023-22809?", depth=0) == [ticket]


def test_a_literal_of_too_many_entities_is_no_seed(world: World) -> None:
    for number in range(traversal.MAX_DOCUMENT_FREQUENCY + 1):
        world.put(str(number), text="see CVE-2023-22809")
    assert world.reached("What about CVE-2023-22809?", depth=0) == []


def test_beside_a_name_a_hit_is_expanded_but_not_returned(world: World) -> None:
    known = opera(world)
    found = world.reached("Who else composed a Fidelio?", hits=[(known["aida"], 0.5)], depth=1)
    assert set(found) == {known["other"], known["verdi"], known["cairo"]}


def test_a_hit_that_is_reached_from_a_name_is_returned(world: World) -> None:
    known = opera(world)
    assert known["verdi"] in world.reached("Who composed Aida?", hits=[(known["verdi"], 0.5)])


def test_beside_a_name_hits_that_reach_each_other_are_not_returned(world: World) -> None:
    known = opera(world)
    hits = [(known["aida"], 0.5), (known["verdi"], 0.5), (known["cairo"], 0.5)]
    assert world.reached("Who else composed a Fidelio?", hits=hits) == [known["other"]]


def test_where_nothing_is_named_the_hits_rank_before_their_neighbours(world: World) -> None:
    known = opera(world)
    hits = [(known["aida"], 0.5), (known["cairo"], 0.4)]
    question = "Where was the composer born?"
    assert world.traverse(question, hits=hits, depth=1)[:2] == hits
    assert set(world.reached(question, hits=hits, depth=1)) == {
        known[name] for name in ("aida", "cairo", "verdi")
    }


def test_at_depth_0_hits_are_not_returned(world: World) -> None:
    known = opera(world)
    assert world.reached("Where was the composer born?", hits=[(known["aida"], 0.5)], depth=0) == []


def test_an_unknown_hit_is_ignored(world: World) -> None:
    opera(world)
    assert world.reached("Where?", hits=[("urn:reddb:row:t/none", 0.9)]) == []


def test_an_empty_index_has_no_graph(world: World) -> None:
    assert world.reached("Who composed Aida?") == []


# --- links ---------------------------------------------------------------------------------


def test_a_mention_is_followed_in_both_directions(world: World) -> None:
    known = opera(world)
    assert set(world.reached("Who composed Aida?", depth=1)) == {
        known[name] for name in ("aida", "verdi", "cairo")
    }
    assert set(world.reached("What did Giuseppe Verdi compose?", depth=1)) == {
        known["verdi"],
        known["aida"],
    }


def test_each_hop_goes_one_step_further(world: World) -> None:
    chain = [world.put(str(number), name=f"station{number}") for number in range(5)]
    edges = [world.link(a, "before", b) for a, b in pairwise(chain)]
    for depth in range(5):
        found = set(world.reached("What is near station0?", depth=depth))
        assert found == {*chain[: depth + 1], *edges[:depth]}


def test_an_edge_is_followed_from_either_end(world: World) -> None:
    known = opera(world)
    edge = world.link(known["cairo"], "twin of", known["other"])
    for name in ("Fidelio", "Cairo"):
        assert {known["cairo"], known["other"], edge} <= set(
            world.reached(f"What about {name}?", depth=1)
        )


def test_cycles_and_self_loops_end(world: World) -> None:
    known = opera(world)
    world.link(known["verdi"], "is", known["verdi"])
    world.link(known["verdi"], "made", known["aida"])
    world.link(known["aida"], "made by", known["verdi"])
    found = world.reached("What about Giuseppe Verdi?", depth=10)
    assert len(found) == len(set(found)) == 5


def test_an_entity_does_not_link_to_itself(world: World) -> None:
    verdi = world.put("verdi", name="Giuseppe Verdi", text="Giuseppe Verdi was born")
    assert world.traverse("Where was he born?", hits=[(verdi, 0.9)]) == [(verdi, 0.9)]


def test_a_name_of_one_word_in_too_many_texts_is_no_mention(world: World) -> None:
    film = world.put("film", name="Film", text="a film by Beckett")
    start = world.put("start", name="Notfilm", text="about the film of the same name")
    assert film in world.reached("What is Notfilm?", depth=1)
    for number in range(traversal.MAX_DOCUMENT_FREQUENCY):
        world.put(f"more {number}", text="yet another film")
    assert world.reached("What is Notfilm?", depth=1) == [start]


def test_incoming_mentions_of_a_name_in_too_many_texts_are_not_followed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(traversal, "EVERYWHERE", 1.0)
    paris = world.put("paris", name="Paris")
    for number in range(traversal.MAX_DOCUMENT_FREQUENCY + 1):
        world.put(f"more {number}", text="somewhere in Paris")
    assert world.reached("What is said of Paris?", depth=1) == [paris]


def test_the_words_of_a_name_that_are_not_adjacent_are_no_mention(world: World) -> None:
    verdi = world.put("verdi", name="Giuseppe Verdi")
    world.put("apart", text="Giuseppe met Verdi")
    assert world.reached("Who was Giuseppe Verdi?") == [verdi]


def test_the_edges_of_an_intermediate_entity_of_too_high_degree_are_not_followed(
    world: World,
) -> None:
    start, hub = world.put("start", name="Start"), world.put("hub", name="Hub")
    edge = world.link(start, "in", hub)
    for number in range(traversal.MAX_DEGREE):
        world.link(world.put(f"leaf {number}"), "in", hub)
    assert set(world.reached("What about Start?", top_k=500)) == {start, hub, edge}
    assert len(world.reached("What about Hub?", top_k=500)) == 2 * traversal.MAX_DEGREE + 3


def test_the_edges_of_a_seed_of_too_high_degree_are_not_followed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub = world.put("hub", name="Hub")
    for number in range(30):
        world.link(world.put(f"leaf {number}"), "in", hub)
    monkeypatch.setattr(traversal, "MAX_SEED_DEGREE", 30)
    assert len(world.reached("What about Hub?", top_k=500)) == 61
    monkeypatch.setattr(traversal, "MAX_SEED_DEGREE", 29)
    assert world.reached("What about Hub?", top_k=500) == [hub]


def test_of_many_neighbours_the_most_similar_come_first_then_by_urn(world: World) -> None:
    hub = world.put("hub", name="Hub")
    leaves = [world.put(f"{number:03}", text="leaf") for number in range(300)]
    asked = world.put("777", text="the amber leaf")
    for leaf in [*leaves, asked]:
        world.link(leaf, "in", hub)
    found = world.reached("Which of Hub is amber?", depth=1, top_k=5)
    assert found == [hub, asked, *leaves[:3]]


# --- scores --------------------------------------------------------------------------------


def test_scores_fall_with_distance_and_stay_between_0_and_1(world: World) -> None:
    chain = [world.put(str(number), name=f"station{number}") for number in range(6)]
    for a, b in pairwise(chain):
        world.link(a, "before", b)
    scores = dict(world.traverse("What is near station0?", depth=5))
    along = [scores[urn] for urn in chain]
    assert along == sorted(along, reverse=True)
    assert len(set(along)) == len(along)
    assert 0 < along[-1] < along[0] <= 1


def test_a_score_is_what_the_docstring_says(world: World) -> None:
    start, end = world.put("start", name="Start"), world.put("end", name="End")
    edge = world.link(start, "before", end)
    scores = dict(world.traverse("What is amber after Start?", depth=1))
    assert scores == {start: 0.5, end: 0.5 * 0.7 / 2, edge: 0.5 * 0.7 / 2 / 4}


def test_scores_rise_with_similarity_to_what_the_question_asks_besides_names(world: World) -> None:
    start = world.put("start", name="Aida Verdi")
    plain = world.put("a", text="Aida Verdi")
    asked = world.put("b", text="premiere of Aida Verdi")
    found = dict(world.traverse("Where was the premiere of Aida Verdi?", depth=1))
    assert found[start] > found[asked] > found[plain]


def test_the_relation_of_an_edge_distinguishes_neighbours(world: World) -> None:
    film = world.put("film", name="Stalker")
    people = [world.put(f"{number}", name=f"person{number}") for number in range(3)]
    relations = ["starred", "directed by", "written by"]
    edges = [
        world.link(film, relation, who) for relation, who in zip(relations, people, strict=True)
    ]
    found = world.reached("Who directed Stalker?", depth=1)
    assert found == [film, edges[1], people[1], people[0], people[2], edges[0], edges[2]]


def test_an_incoming_mention_weighs_less_than_an_outgoing_one(world: World) -> None:
    world.put("verdi", name="Giuseppe Verdi", text="friend of Arrigo Boito")
    named = world.put("boito", name="Arrigo Boito", text="poet and also a composer")
    naming = world.put("aida", name="Falstaff Premiere", text="by Giuseppe Verdi")
    found = dict(world.traverse("What about Giuseppe Verdi in winter?", depth=1))
    assert found[named] == 2 * found[naming]


def test_the_weight_of_links_is_damped_by_fan_out(world: World) -> None:
    hub = world.put("hub", name="Hub")
    for number in range(4 * traversal.UNDAMPED_FAN_OUT):
        world.link(world.put(f"leaf {number}"), "in", hub)
    scores = [score for _, score in world.traverse("Which is the amber Hub?", depth=1, top_k=2)]
    assert scores == [0.5, 0.5 * 0.7 / 4 / 2]


def test_of_several_paths_the_best_counts(world: World) -> None:
    start = world.put("start", name="Start")
    naming = world.put("naming", text="Start")
    linked = world.put("linked", text="Start")
    world.link(start, "to", linked)
    found = dict(world.traverse("What is amber after Start?", depth=1))
    assert found[linked] == 2 * found[naming]


def test_the_score_of_seeds_is_damped_by_the_number_of_owners(world: World) -> None:
    for number in range(2 * traversal.UNDAMPED_FAN_OUT):
        world.put(f"part {number}", title="The Long Report", text=f"part {number}")
    found = world.traverse("The Long Report", depth=0, top_k=100)
    assert len(found) == 2 * traversal.UNDAMPED_FAN_OUT
    assert found[0][1] <= 0.5


def test_neighbours_of_a_better_hit_score_higher(world: World) -> None:
    known = opera(world)
    better, worse = (
        dict(world.traverse("Where?", hits=[(known["aida"], score)], depth=1))
        for score in (0.8, 0.4)
    )
    assert better[known["verdi"]] == pytest.approx(2 * worse[known["verdi"]])


def test_no_more_than_top_k_are_found(world: World) -> None:
    opera(world)
    every = world.traverse("Who composed Aida?")
    assert world.traverse("Who composed Aida?", top_k=2) == every[:2]
    assert world.traverse("Who composed Aida?", top_k=0) == []


def test_collections_restrict_the_results_not_the_traversal(world: World) -> None:
    start = world.put("start", name="Start", collection="a")
    middle = world.put("middle", collection="b")
    end = world.put("end", collection="c")
    first = world.link(start, "before", middle, collection="d")
    world.link(middle, "before", end)
    assert world.reached("What about Start?", collections=("c", "d")) == [end, first]


# --- what results depend on ----------------------------------------------------------------


def tangle(world: World, seed: int, hidden: bool) -> None:
    """Entities that mention each other and edges between them, some of them hidden.

    Hidden ones come last and share names and words with the visible ones.
    """
    chance = random.Random(seed)
    names = [f"{chance.choice('abc')}{chance.choice('xyz')} name{i % 25}" for i in range(60)]
    urns = []
    for number, name in enumerate(names):
        prose = " and ".join(chance.sample([*names, "Paris", "amber", "of the name1"], 4))
        urns.append(world.put(f"{number}", title=name, text=prose))
    for _ in range(80):
        world.link(*_relation(chance, urns, urns))
    secret = [
        world.put(f"secret {i}", "secret", title=chance.choice(names), text=" ".join(names[i:]))
        for i in range(40 * hidden)
    ]
    secret += [world.put(f"name {i}", "secret", title=f"ax name{i}") for i in range(25 * hidden)]
    for _ in range(60 * hidden):
        world.link(*_relation(chance, [*secret, *urns], urns), projection_key="secret")
        world.link(*_relation(chance, secret, urns))


def _relation(chance: random.Random, some: list[str], others: list[str]) -> tuple[str, str, str]:
    return chance.choice(some), chance.choice(["likes", "amber", "knows"]), chance.choice(others)


QUESTIONS = [f"Who likes the amber {a}{b} name{i}?" for i in range(9) for a in "ab" for b in "xz"]


@pytest.mark.parametrize("seed", range(3))
def test_what_a_caller_may_not_see_changes_nothing(seed: int) -> None:
    with_, without = World(), World()
    tangle(with_, seed, hidden=True)
    tangle(without, seed, hidden=False)
    hits = [(urn, 0.5) for urn, *_ in without.entities[:5]]
    with with_.indexed() as one, without.indexed() as other:
        results = [
            one.traverse(question, hits, projection_keys=OPEN, top_k=200) for question in QUESTIONS
        ]
        assert results == [other.traverse(question, hits, top_k=200) for question in QUESTIONS]
        assert results != [one.traverse(question, hits, top_k=200) for question in QUESTIONS]
        assert all(results)


def test_a_hidden_name_does_not_cover_a_shorter_one(world: World) -> None:
    york = world.put("york", name="New York")
    world.put("times", "secret", name="New York Times")
    assert world.reached("Who reads the New York Times?", depth=0, projection_keys=OPEN) == [york]


def test_an_edge_to_a_hidden_entity_is_hidden(world: World) -> None:
    start, end = world.put("start", name="Start"), world.put("end", "secret", name="End")
    world.link(start, "before", end)
    assert world.reached("What about Start?", projection_keys=OPEN) == [start]


def test_edges_to_hidden_entities_do_not_count(world: World) -> None:
    hub, leaf = world.put("hub", name="Hub"), world.put("leaf")
    world.link(leaf, "in", hub)
    before = world.traverse("What about Hub?", depth=1, projection_keys=OPEN)
    for number in range(2 * traversal.UNDAMPED_FAN_OUT):
        world.link(world.put(f"secret {number}", "secret"), "in", hub)
    assert world.traverse("What about Hub?", depth=1, projection_keys=OPEN) == before


def test_a_hidden_hit_is_no_seed(world: World) -> None:
    world.put("end", name="End")
    start = world.put("start", "secret", text="leads to the End of it")
    assert world.reached("What about it?", hits=[(start, 0.9)], projection_keys=OPEN) == []


def test_a_name_that_is_everywhere_is_no_name_of_a_question(world: World) -> None:
    start = world.put("start", name="Paris")
    for number in range(traversal.UNDAMPED_FAN_OUT - 1):
        world.put(f"more {number}", text="somewhere in Paris")
    assert start in world.reached("What is said of Paris?", depth=0)
    world.put("secret", "secret", text="hidden in Paris")
    assert world.reached("What is said of Paris?", depth=0, projection_keys=OPEN) == [start]
    world.put("one more", text="still in Paris")
    world.put("and another", text="still in Paris")
    assert world.reached("What is said of Paris?", depth=0) == []


def test_the_title_of_a_long_document_is_a_name(world: World) -> None:
    for number in range(2 * traversal.UNDAMPED_FAN_OUT):
        world.put(f"part {number}", title="The Long Report", text=f"part {number}")
    assert len(world.reached("What says the Long Report?", depth=0, top_k=100)) == 40


def test_document_frequency_is_counted_over_visible_entities(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(traversal, "EVERYWHERE", 1.0)
    paris, fair = world.put("paris", name="Paris"), world.put("fair", text="the fair in Paris")
    for number in range(traversal.MAX_DOCUMENT_FREQUENCY):
        world.put(f"more {number}", "secret", text="somewhere in Paris")
    assert world.reached("What is said of Paris?", projection_keys=OPEN) == [paris, fair]
    assert world.reached("What is said of Paris?") == [paris]


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_keys_changes_nothing(seed: int) -> None:
    world = World()
    tangle(world, seed, hidden=True)
    hits = [(urn, 0.5) for urn, *_ in world.entities[:5]]
    with world.indexed(1) as one, world.indexed(2) as other:
        for question in QUESTIONS:
            assert one.traverse(question, hits, depth=3) == other.traverse(question, hits, depth=3)
