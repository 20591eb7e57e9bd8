"""Messages out: pygwire reads in them what was said."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from pygwire import BackendMessageDecoder, ConnectionPhase
from pygwire import messages as oracle

from redask.server.pgwire.protocol import backend_messages
from redask.server.pgwire.protocol.backend_messages import ResultColumn

TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20)


def received(data: bytes, phase: ConnectionPhase = ConnectionPhase.SIMPLE_QUERY) -> list[Any]:
    decoder = BackendMessageDecoder()
    decoder.phase = phase
    decoder.feed(data)
    found = list(decoder)
    assert decoder.buffered == 0
    return found


@given(st.lists(st.none() | st.binary(max_size=9), max_size=6))
def test_a_row_arrives_with_its_nulls(cells: list[bytes | None]) -> None:
    [row] = received(backend_messages.data_row(cells))
    assert row == oracle.DataRow(cells)


@given(st.lists(st.tuples(TEXTS, st.sampled_from([16, 25, 3802]), st.integers(0, 1)), max_size=4))
def test_columns_arrive_with_type_size_and_format(found: list[tuple[str, int, int]]) -> None:
    columns = [ResultColumn(name, oid) for name, oid, _ in found]
    [response] = received(backend_messages.row_description(columns, [form for *_, form in found]))
    assert [(each.name, each.type_oid, each.format_code) for each in response.fields] == found
    sizes = {16: 1, 25: -1, 3802: -1}
    assert [each.type_size for each in response.fields] == [sizes[oid] for _, oid, _ in found]
    assert {each.type_modifier for each in response.fields} <= {-1}


@given(TEXTS, TEXTS, TEXTS)
def test_an_error_arrives_with_its_fields(message: str, detail: str, hint: str) -> None:
    [error] = received(
        backend_messages.error_response(
            "42601", message, detail=detail, hint=hint, position=3, kind="k"
        )
    )
    expected = {"S": "ERROR", "V": "ERROR", "C": "42601", "M": message or "?", "R": "k", "P": "3"}
    more = {"D": detail, "H": hint}
    assert error.fields == expected | {name: text for name, text in more.items() if text}


def test_text_that_cannot_travel_is_replaced_and_a_long_one_cut() -> None:
    [error] = received(backend_messages.error_response("42601", "a\0b\ud800c", fatal=True))
    assert error.fields["M"] == "a\ufffdb?c"
    assert error.fields["S"] == "FATAL"
    [long] = received(backend_messages.error_response("42601", "ä" * 9000))
    assert len(long.fields["M"]) == 4001


def test_the_small_messages_are_what_they_should_be() -> None:
    said = [
        *(
            backend_messages.PARSE_COMPLETE,
            backend_messages.BIND_COMPLETE,
            backend_messages.CLOSE_COMPLETE,
        ),
        *(
            backend_messages.NO_DATA,
            backend_messages.EMPTY_QUERY_RESPONSE,
            backend_messages.PORTAL_SUSPENDED,
        ),
        *(backend_messages.parameter_status("a", "b"), backend_messages.ready_for_query("T")),
        *(
            backend_messages.parameter_description([25, 2**31]),
            backend_messages.command_complete("SELECT 1"),
        ),
        backend_messages.notice_response("25P01", "there is no transaction"),
    ]
    found = received(b"".join(said), ConnectionPhase.EXTENDED_QUERY)
    assert [type(each).__name__ for each in found] == [
        *("ParseComplete", "BindComplete", "CloseComplete"),
        *("NoData", "EmptyQueryResponse", "PortalSuspended"),
        *("ParameterStatus", "ReadyForQuery"),
        *("ParameterDescription", "CommandComplete", "NoticeResponse"),
    ]
    assert found[7].status.value == "T"
    [key] = received(backend_messages.backend_key_data(7, b"abcd"), ConnectionPhase.INITIALIZATION)
    assert key == oracle.BackendKeyData(7, b"abcd")


def test_authentication_messages_are_as_pygwire_reads_them() -> None:
    said = (
        backend_messages.authentication_sasl("SCRAM-SHA-256")
        + backend_messages.authentication_sasl_continue(b"r=x")
        + backend_messages.authentication_sasl_final(b"v=x")
    )
    offer, challenge, proof, fine = received(
        said + backend_messages.AUTHENTICATION_OK, ConnectionPhase.AUTHENTICATING
    )
    assert offer.mechanisms == ["SCRAM-SHA-256"]
    assert (challenge.data, proof.data) == (b"r=x", b"v=x")
    assert isinstance(fine, oracle.AuthenticationOk)
    [response] = received(
        backend_messages.negotiate_protocol_version(["_pq_.x"]), ConnectionPhase.AUTHENTICATING
    )
    assert (response.newest_minor, response.unrecognized) == (3 << 16, ["_pq_.x"])
