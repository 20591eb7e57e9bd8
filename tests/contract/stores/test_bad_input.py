"""What cannot be stored is refused with a reason, and nothing of its batch is written."""

import math

import pytest

from redask.core.errors import BadAsk, BadUrn
from redask.core.model import Caller, Kind, Source
from redask.core.ports import Entity
from redask.stores import entity_rows
from redask.stores.backend import EntityStore
from redask.stores.statistics import Collection

ME = Caller()


def tickets(*ids: int, title: str = "broken pump") -> list[Entity]:
    return entity_rows.entities("tickets", [{"id": number, "title": title} for number in ids])


def urn(number: int | str) -> str:
    return f"urn:reddb:row:tickets/{number}"


def log(store: EntityStore, after: int = 0, tenant: str = "local") -> list[tuple[int, str, bool]]:
    found = store.changes(tenant, after, 10_000)
    return [(change.seq, change.urn, change.entity is not None) for change in found]


BAD_ENTITIES = {
    "no URN": Entity("tickets/1", "{}"),
    "reserved collection": Entity("urn:reddb:row:red_ask_audit/1", "{}"),
    "reserved in capitals": Entity("urn:reddb:row:RED_x/1", "{}"),
    "control character in the collection": Entity("urn:reddb:row:a%0Ab/1", "{}"),
    "long collection name": Entity(f"urn:reddb:row:{'x' * 257}/1", "{}"),
    "NUL in the id": Entity("urn:reddb:row:a/1%002", "{}"),
    "endless id": Entity(f"urn:reddb:row:a/{'x' * 20_000}", "{}"),
    "no JSON": Entity("urn:reddb:row:a/1", "{"),
    "not an object": Entity("urn:reddb:row:a/1", "[1]"),
    "something after the object": Entity("urn:reddb:row:a/1", "{}{}"),
    "NaN": Entity("urn:reddb:row:a/1", '{"x":NaN}'),
    "deeper than 256": Entity("urn:reddb:row:a/1", '{"x":' + "[" * 300 + "]" * 300 + "}"),
    "too deep to read": Entity("urn:reddb:row:a/1", '{"x":' + "[" * 100_000 + "]" * 100_000 + "}"),
    "NUL": Entity("urn:reddb:row:a/1", '{"x":["a\\u0000b"]}'),
    "NUL in a key": Entity("urn:reddb:row:a/1", '{"x":{"a\\u0000b":1}}'),
    "lone surrogate": Entity("urn:reddb:row:a/1", '{"x":"\ud800"}'),
    "escaped surrogate": Entity("urn:reddb:row:a/1", '{"x":"\\ud800"}'),
    "needless escape": Entity("urn:reddb:row:a/1", '{"x":"\\u0041"}'),
    "10 MB": Entity("urn:reddb:row:a/1", f'{{"x":"{"y" * 10_000_000}"}}'),
    "10 MB that are not ASCII": Entity("urn:reddb:row:a/1", f'{{"x":"{"é" * 5_000_000}"}}'),
    "10,000 columns": Entity(
        "urn:reddb:row:a/1", "{" + ",".join(f'"c{n:05}":1' for n in range(10_000)) + "}"
    ),
    "integer of 5,000 digits": Entity("urn:reddb:row:a/1", f'{{"x":{"9" * 5000}}}'),
    "no dimensions": Entity("urn:reddb:row:a/1", "{}", vector=()),
    "too many dimensions": Entity("urn:reddb:row:a/1", "{}", vector=(0.0,) * 8193),
    "NaN in the vector": Entity("urn:reddb:row:a/1", "{}", vector=(0.0, math.nan)),
    "infinity in the vector": Entity("urn:reddb:row:a/1", "{}", vector=(0.0, -math.inf)),
    "too large for float32": Entity("urn:reddb:row:a/1", "{}", vector=(0.0, 1e39)),
}


@pytest.mark.parametrize("entity", BAD_ENTITIES.values(), ids=BAD_ENTITIES.keys())
def test_a_bad_entity_is_refused_and_nothing_of_its_batch_is_written(
    store: EntityStore, entity: Entity
) -> None:
    store.put(tickets(1), ME)
    with pytest.raises(BadAsk) as caught:
        store.put([*tickets(2), entity, *tickets(3)], ME)
    assert caught.value.message
    assert log(store) == [(1, urn(1), True)]
    assert store.collections(ME) == [Collection("tickets", None, {Kind.ROW: 1})]


def test_a_urn_twice_in_one_batch_is_refused(store: EntityStore) -> None:
    with pytest.raises(BadAsk, match=r"tickets/1 stands twice"):
        store.put([*tickets(1, 2), *tickets(1, title="other")], ME)
    assert store.watermark("local") == 0


def test_text_that_only_looks_like_a_nul_is_kept(store: EntityStore) -> None:
    store.put(entity_rows.entities("a", [{"id": 1, "x": "\\u0000", "y": "\x01"}]), ME)
    assert store.read(["urn:reddb:row:a/1"], ME)[0].payload == (
        '{"id":1,"x":"\\\\u0000","y":"\\u0001"}'
    )


def test_a_payload_just_within_the_bound_is_kept(store: EntityStore) -> None:
    payload = f'{{"x":"{"y" * (8 * 1024 * 1024 - 8)}"}}'
    store.put([Entity("urn:reddb:row:a/1", payload)], ME)
    assert store.read(["urn:reddb:row:a/1"], ME) == [Source("urn:reddb:row:a/1", payload)]


@pytest.mark.parametrize("bad", ["", "tickets/1", "urn:reddb:row:tickets", "URN:reddb:row:a/1"])
def test_reading_and_deleting_refuse_what_is_no_urn(store: EntityStore, bad: str) -> None:
    with pytest.raises(BadUrn):
        store.read([bad], ME)
    with pytest.raises(BadUrn):
        store.delete([bad], ME)
