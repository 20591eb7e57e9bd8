"""Several hops are quoted in their order; a source is found by its name."""

import pytest
from quotable import ask, document

from redask.providers.extractive.source_names import SourceNames

HEAT = document(
    1, "Heat is a crime film of 1995 directed by Michael Mann. It is long.", "Heat (film)"
)
MANN = document(2, "Michael Mann was born in Chicago. He makes films.", "Michael Mann")
PACINO = document(3, "Al Pacino was born in New York and acts in films.", "Al Pacino")
ALIEN = document(4, "Alien is a horror film of 1979 directed by Ridley Scott.", "Alien")
SCOTT = document(5, "Ridley Scott was born in South Shields.", "Ridley Scott")


def markers(question: str, *sources: object) -> list[str]:
    return [line[-2] for line in ask(question, *sources).split("\n")]  # type: ignore[arg-type]


@pytest.mark.parametrize("sources", [(HEAT, MANN, PACINO), (PACINO, MANN, HEAT)])
def test_the_source_that_the_first_one_names_is_the_second_hop(sources: tuple[object, ...]) -> None:
    lines = ask("Where was the director of film Heat born?", *sources).split("\n")  # type: ignore[arg-type]
    assert [line.partition(" [^")[0] for line in lines] == [
        "Heat is a crime film of 1995 directed by Michael Mann.",
        "Michael Mann was born in Chicago.",
    ]


def test_a_question_about_the_first_source_alone_has_no_second_hop() -> None:
    assert "Chicago" not in ask("Who is the director of Heat?", HEAT, MANN, PACINO)


def test_two_that_are_compared_have_a_chain_each() -> None:
    asked = "Which film has the director who was born first, Alien or Heat?"
    assert markers(asked, HEAT, MANN, PACINO, ALIEN, SCOTT) == ["4", "5", "1", "2"]
    assert markers("Which film is older, Alien or Heat?", HEAT, ALIEN) == ["2", "1"]


def test_kin_is_found_by_the_words_that_say_it() -> None:
    lothair = document(1, "Lothair II was the second son of Ermengarde of Tours.", "Lothair II")
    ermengarde = document(2, "Ermengarde of Tours died in 851.", "Ermengarde of Tours")
    other = document(3, "Muazzez died in 1687 and was a mother.", "Muazzez")
    assert markers("When did Lothair II's mother die?", other, lothair, ermengarde) == ["2", "3"]


def names(**numbered: str) -> SourceNames:
    made = SourceNames()
    for number, name in numbered.items():
        made.add(int(number[1:]), name)
    return made


def test_names_are_found_whole_the_longest_first() -> None:
    made = names(n1="Billy Elliot", n2="Billy Elliot the Musical (2005)", n3="The", n4="It", n5="")
    assert made.named_in("Who wrote Billy Elliot the Musical?") == [2]
    assert made.named_in("Who wrote billy elliot's songs, the best of it?") == [1]
    assert made.named_in("Who wrote Elliot?") == []


def test_words_are_no_name_beside_a_capitalised_one() -> None:
    made = names(n1="Place of birth", n2="Heat")
    assert made.named_in("What is the place of birth of the director of Heat?") == [2]
    assert made.named_in("what is the place of birth of the director of heat") == [1, 2]


def test_a_name_that_many_sources_have_names_none() -> None:
    assert names(n1="Heat", n2="Heat").named_in("Heat?") == [1, 2]
    assert names(n1="Heat", n2="Heat", n3="Heat").named_in("Heat?") == []
