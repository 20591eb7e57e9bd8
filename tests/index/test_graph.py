"""The graph bucket: where a walk starts, where it goes, what it is worth, what it never shows."""

import random
from itertools import pairwise

import pytest
from walking import World

from redask.index.graph import traversal

OPEN = frozenset(["all"])


@pytest.fixture
def world() -> World:
    return World()


def opera(world: World) -> dict[str, str]:
    """A composer, an opera of his that says so, and the town it names."""
    return {
        "verdi": world.put("verdi", name="Giuseppe Verdi", text="born near the river Po"),
        "aida": world.put(
            "aida", title="Aida (opera)", text="composed by Giuseppe Verdi for Cairo"
        ),
        "cairo": world.put("cairo", name="Cairo", text="a large town on the Nile"),
        "other": world.put("other", name="Fidelio", text="another opera"),
    }


# --- where it starts -----------------------------------------------------------------------


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


def test_an_entity_with_a_literal_of_the_question_is_a_start(world: World) -> None:
    ticket = world.put("1", text="see CVE-2023-22809")
    world.put("2", text="see CVE-2023-22810")
    assert world.reached("What about CVE-2023-22809?", depth=0) == [ticket]


def test_a_literal_of_too_many_entities_is_no_start(world: World) -> None:
    for number in range(traversal.COMMON + 1):
        world.put(str(number), text="see CVE-2023-22809")
    assert world.reached("What about CVE-2023-22809?", depth=0) == []


def test_beside_a_name_a_hit_is_a_place_to_start_from_not_a_find(world: World) -> None:
    known = opera(world)
    found = world.reached("Who else composed a Fidelio?", hits=[(known["aida"], 0.5)], depth=1)
    assert set(found) == {known["other"], known["verdi"], known["cairo"]}


def test_a_hit_that_a_name_leads_to_is_a_find(world: World) -> None:
    known = opera(world)
    assert known["verdi"] in world.reached("Who composed Aida?", hits=[(known["verdi"], 0.5)])


def test_beside_a_name_two_hits_do_not_vouch_for_each_other(world: World) -> None:
    known = opera(world)
    hits = [(known["aida"], 0.5), (known["verdi"], 0.5), (known["cairo"], 0.5)]
    assert world.reached("Who else composed a Fidelio?", hits=hits) == [known["other"]]


def test_where_nothing_is_named_the_hits_lead_what_is_around_them(world: World) -> None:
    known = opera(world)
    hits = [(known["aida"], 0.5), (known["cairo"], 0.4)]
    question = "Where was the composer born?"
    assert world.walk(question, hits=hits, depth=1)[:2] == hits
    assert set(world.reached(question, hits=hits, depth=1)) == {
        known[name] for name in ("aida", "cairo", "verdi")
    }


def test_at_depth_0_hits_are_not_found_again(world: World) -> None:
    known = opera(world)
    assert world.reached("Where was the composer born?", hits=[(known["aida"], 0.5)], depth=0) == []


def test_an_unknown_hit_is_ignored(world: World) -> None:
    opera(world)
    assert world.reached("Where?", hits=[("urn:reddb:row:t/none", 0.9)]) == []


def test_an_empty_index_has_no_graph(world: World) -> None:
    assert world.reached("Who composed Aida?") == []


# --- where it goes -------------------------------------------------------------------------


def test_a_mention_is_followed_to_what_it_names_and_back(world: World) -> None:
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


def test_an_edge_is_walked_from_either_end(world: World) -> None:
    known = opera(world)
    edge = world.link(known["cairo"], "twin of", known["other"])
    for name in ("Fidelio", "Cairo"):
        assert {known["cairo"], known["other"], edge} <= set(
            world.reached(f"What about {name}?", depth=1)
        )


def test_circles_and_loops_end(world: World) -> None:
    known = opera(world)
    world.link(known["verdi"], "is", known["verdi"])
    world.link(known["verdi"], "made", known["aida"])
    world.link(known["aida"], "made by", known["verdi"])
    found = world.reached("What about Giuseppe Verdi?", depth=10)
    assert len(found) == len(set(found)) == 5


def test_an_entity_does_not_lead_to_itself(world: World) -> None:
    verdi = world.put("verdi", name="Giuseppe Verdi", text="Giuseppe Verdi was born")
    assert world.walk("Where was he born?", hits=[(verdi, 0.9)]) == [(verdi, 0.9)]


def test_a_word_of_too_many_texts_is_no_mention(world: World) -> None:
    film = world.put("film", name="Film", text="a film by Beckett")
    start = world.put("start", name="Notfilm", text="about the film of the same name")
    assert film in world.reached("What is Notfilm?", depth=1)
    for number in range(traversal.COMMON):
        world.put(f"more {number}", text="yet another film")
    assert world.reached("What is Notfilm?", depth=1) == [start]


def test_a_name_that_too_many_texts_hold_is_not_read_backwards(world: World) -> None:
    paris = world.put("paris", name="Paris")
    for number in range(traversal.COMMON + 1):
        world.put(f"more {number}", text="somewhere in Paris")
    assert world.reached("What is said of Paris?", depth=1) == [paris]


def test_the_words_of_a_name_apart_are_no_mention(world: World) -> None:
    verdi = world.put("verdi", name="Giuseppe Verdi")
    world.put("apart", text="Giuseppe met Verdi")
    assert world.reached("Who was Giuseppe Verdi?") == [verdi]


def test_who_is_met_on_the_way_and_has_too_many_edges_is_a_dead_end(world: World) -> None:
    start, hub = world.put("start", name="Start"), world.put("hub", name="Hub")
    edge = world.link(start, "in", hub)
    for number in range(traversal.COMMON):
        world.link(world.put(f"leaf {number}"), "in", hub)
    assert set(world.reached("What about Start?", top_k=500)) == {start, hub, edge}
    assert len(world.reached("What about Hub?", top_k=500)) == 2 * traversal.COMMON + 3


def test_a_start_with_a_crowd_of_edges_is_a_dead_end(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub = world.put("hub", name="Hub")
    for number in range(30):
        world.link(world.put(f"leaf {number}"), "in", hub)
    monkeypatch.setattr(traversal, "CROWD", 30)
    assert len(world.reached("What about Hub?", top_k=500)) == 61
    monkeypatch.setattr(traversal, "CROWD", 29)
    assert world.reached("What about Hub?", top_k=500) == [hub]


def test_of_many_neighbours_the_most_similar_come_first_then_by_urn(world: World) -> None:
    hub = world.put("hub", name="Hub")
    leaves = [world.put(f"{number:03}", text="leaf") for number in range(300)]
    asked = world.put("777", text="the amber leaf")
    for leaf in [*leaves, asked]:
        world.link(leaf, "in", hub)
    found = world.reached("Which of Hub is amber?", depth=1, top_k=5)
    assert found == [hub, asked, *leaves[:3]]


# --- what it is worth ----------------------------------------------------------------------


def test_scores_fall_with_distance_and_stay_between_0_and_1(world: World) -> None:
    chain = [world.put(str(number), name=f"station{number}") for number in range(6)]
    for a, b in pairwise(chain):
        world.link(a, "before", b)
    scores = dict(world.walk("What is near station0?", depth=5))
    along = [scores[urn] for urn in chain]
    assert along == sorted(along, reverse=True)
    assert len(set(along)) == len(along)
    assert 0 < along[-1] < along[0] <= 1


def test_a_score_is_what_the_table_says(world: World) -> None:
    start, end = world.put("start", name="Start"), world.put("end", name="End")
    edge = world.link(start, "before", end)
    scores = dict(world.walk("What is amber after Start?", depth=1))
    assert scores == {start: 0.5, end: 0.5 * 0.7 / 2, edge: 0.5 * 0.7 / 2 / 4}


def test_scores_rise_with_similarity_to_what_the_question_asks_besides_names(world: World) -> None:
    start = world.put("start", name="Aida Verdi")
    plain = world.put("a", text="Aida Verdi")
    asked = world.put("b", text="premiere of Aida Verdi")
    found = dict(world.walk("Where was the premiere of Aida Verdi?", depth=1))
    assert found[start] > found[asked] > found[plain]


def test_what_an_edge_says_tells_its_ends_apart(world: World) -> None:
    film = world.put("film", name="Stalker")
    people = [world.put(f"{number}", name=f"person{number}") for number in range(3)]
    relations = ["starred", "directed by", "written by"]
    edges = [world.link(film, said, who) for said, who in zip(relations, people, strict=True)]
    found = world.reached("Who directed Stalker?", depth=1)
    assert found == [film, edges[1], people[1], people[0], people[2], edges[0], edges[2]]


def test_a_mention_read_backwards_is_worth_less(world: World) -> None:
    world.put("verdi", name="Giuseppe Verdi", text="friend of Arrigo Boito")
    named = world.put("boito", name="Arrigo Boito", text="poet and also a composer")
    naming = world.put("aida", name="Falstaff Premiere", text="by Giuseppe Verdi")
    found = dict(world.walk("What about Giuseppe Verdi in winter?", depth=1))
    assert found[named] == 2 * found[naming]


def test_many_equal_steps_carry_less_each(world: World) -> None:
    hub = world.put("hub", name="Hub")
    for number in range(4 * traversal.FEW):
        world.link(world.put(f"leaf {number}"), "in", hub)
    scores = [score for _, score in world.walk("Which is the amber Hub?", depth=1, top_k=2)]
    assert scores == [0.5, 0.5 * 0.7 / 4 / 2]


def test_of_several_ways_the_best_counts(world: World) -> None:
    start = world.put("start", name="Start")
    naming = world.put("naming", text="Start")
    linked = world.put("linked", text="Start")
    world.link(start, "to", linked)
    found = dict(world.walk("What is amber after Start?", depth=1))
    assert found[linked] == 2 * found[naming]


def test_many_of_one_name_are_worth_less_each(world: World) -> None:
    for number in range(2 * traversal.FEW):
        world.put(f"part {number}", title="The Long Report", text=f"part {number}")
    found = world.walk("The Long Report", depth=0, top_k=100)
    assert len(found) == 2 * traversal.FEW
    assert found[0][1] <= 0.5


def test_a_walk_from_a_better_hit_is_worth_more(world: World) -> None:
    known = opera(world)
    better, worse = (
        dict(world.walk("Where?", hits=[(known["aida"], score)], depth=1)) for score in (0.8, 0.4)
    )
    assert better[known["verdi"]] == pytest.approx(2 * worse[known["verdi"]])


def test_no_more_than_top_k_are_found(world: World) -> None:
    opera(world)
    every = world.walk("Who composed Aida?")
    assert world.walk("Who composed Aida?", top_k=2) == every[:2]
    assert world.walk("Who composed Aida?", top_k=0) == []


def test_collections_narrow_what_is_found_not_the_way_there(world: World) -> None:
    start = world.put("start", name="Start", collection="a")
    middle = world.put("middle", collection="b")
    end = world.put("end", collection="c")
    first = world.link(start, "before", middle, collection="d")
    world.link(middle, "before", end)
    assert world.reached("What about Start?", collections=("c", "d")) == [end, first]


# --- what it depends on --------------------------------------------------------------------


def tangle(world: World, seed: int, hidden: bool) -> None:
    """Entities that name each other and edges between them, some for others' visibility only.

    Hidden ones come last and share names and words with the open ones.
    """
    chance = random.Random(seed)
    names = [f"{chance.choice('abc')}{chance.choice('xyz')} name{i % 25}" for i in range(60)]
    urns = []
    for number, name in enumerate(names):
        said = " and ".join(chance.sample([*names, "Paris", "amber", "of the name1"], 4))
        urns.append(world.put(f"{number}", title=name, text=said))
    for _ in range(80):
        world.link(*_relation(chance, urns, urns))
    secret = [
        world.put(f"secret {i}", "secret", title=chance.choice(names), text=" ".join(names[i:]))
        for i in range(40 * hidden)
    ]
    secret += [world.put(f"name {i}", "secret", title=f"ax name{i}") for i in range(25 * hidden)]
    for _ in range(60 * hidden):
        world.link(*_relation(chance, [*secret, *urns], urns), label="secret")
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
    with with_.searched() as one, without.searched() as other:
        results = [one.walk(question, hits, labels=OPEN, top_k=200) for question in QUESTIONS]
        assert results == [other.walk(question, hits, top_k=200) for question in QUESTIONS]
        assert results != [one.walk(question, hits, top_k=200) for question in QUESTIONS]
        assert all(results)


def test_a_hidden_name_does_not_hide_a_shorter_one(world: World) -> None:
    york = world.put("york", name="New York")
    world.put("times", "secret", name="New York Times")
    assert world.reached("Who reads the New York Times?", depth=0, labels=OPEN) == [york]


def test_an_edge_to_what_is_hidden_is_hidden(world: World) -> None:
    start, end = world.put("start", name="Start"), world.put("end", "secret", name="End")
    world.link(start, "before", end)
    assert world.reached("What about Start?", labels=OPEN) == [start]


def test_edges_to_what_is_hidden_do_not_count(world: World) -> None:
    hub, leaf = world.put("hub", name="Hub"), world.put("leaf")
    world.link(leaf, "in", hub)
    before = world.walk("What about Hub?", depth=1, labels=OPEN)
    for number in range(2 * traversal.FEW):
        world.link(world.put(f"secret {number}", "secret"), "in", hub)
    assert world.walk("What about Hub?", depth=1, labels=OPEN) == before


def test_a_hidden_hit_is_no_start(world: World) -> None:
    world.put("end", name="End")
    start = world.put("start", "secret", text="leads to the End of it")
    assert world.reached("What about it?", hits=[(start, 0.9)], labels=OPEN) == []


def test_names_are_too_common_only_by_what_is_visible(world: World) -> None:
    paris, fair = world.put("paris", name="Paris"), world.put("fair", text="the fair in Paris")
    for number in range(traversal.COMMON):
        world.put(f"more {number}", "secret", text="somewhere in Paris")
    assert world.reached("What is said of Paris?", labels=OPEN) == [paris, fair]
    assert world.reached("What is said of Paris?") == [paris]


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_keys_changes_nothing(seed: int) -> None:
    world = World()
    tangle(world, seed, hidden=True)
    hits = [(urn, 0.5) for urn, *_ in world.entities[:5]]
    with world.searched(1) as one, world.searched(2) as other:
        for question in QUESTIONS:
            assert one.walk(question, hits, depth=3) == other.walk(question, hits, depth=3)
