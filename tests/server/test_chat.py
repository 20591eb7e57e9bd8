"""Chat completions, asked with OpenAI's own SDK of a real server: answers, streams, errors."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import openai
import pytest
from server_thread import ServerThread
from stage import Player
from waiting import SECONDS, until

from redask.core import errors
from redask.core.serving_limits import public_url
from redask.core.values import Unfit
from redask.core.wire.chat.chat_text import withdrawn
from redask.server.http.chat import chat_requests
from redask.server.http.chat.chat_requests import MOST_NAMED

FERRY = "When does the ferry leave?"
RIGHT = "The ferry to Amrum leaves at nine. [^1]"
APP = "https://app.example"
CHAT, MODELS = "/v1/chat/completions", "/v1/models"


class ChatServer(ServerThread):
    """With providers that must be asked twice, or fail while they write."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory, http_port=0, cors_origins=(APP,))
        broken = errors.ProviderFailed("ollama", errors.Failure.SERVER, "gone")
        self.actors["deepseek"] = Player("deepseek", ["Nobody knows. [^99]", RIGHT])
        self.actors["ollama"] = Player("ollama", [["The ferry ", broken]])

    def client(self, user: str = "mia", **more: Any) -> openai.OpenAI:
        token = self.tokens.get(user, user)
        where = f"{self.addresses[0]}/v1"
        return openai.OpenAI(
            base_url=where, api_key=token, timeout=SECONDS, **{"max_retries": 0, **more}
        )


class ChosenServer(ChatServer):
    """As its operator wants it."""

    operator = """
[serve]
public_url = "https://ask.example/"
chat_model = "acme/handbook"
chat_sources_in_text = true
chat_stream = "checked"
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChatServer]:
    with ChatServer(tmp_path_factory.mktemp("chat") / "db") as opened:
        yield opened


@pytest.fixture(scope="module")
def chosen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChosenServer]:
    with ChosenServer(tmp_path_factory.mktemp("chosen") / "db") as opened:
        yield opened


def said(*texts: str) -> list[Any]:
    """Messages of the user and the assistant in turn."""
    roles = ("user", "assistant")
    return [{"role": roles[at % 2], "content": text} for at, text in enumerate(texts)]


def own(using: str = "scripted", **options: Any) -> dict[str, Any]:
    return {"redask": {"options": {"using": using, **options}}}


def complete(client: openai.OpenAI, *texts: str, using: str = "scripted", **more: Any) -> Any:
    given = {"model": "redask", "messages": said(*texts), "extra_body": own(using), **more}
    return client.chat.completions.create(**given)


def post(server: ServerThread, body: object, path: str = CHAT, **headers: str) -> httpx.Response:
    given = {"Authorization": f"Bearer {server.tokens['mia']}", **headers}
    return httpx.post(server.addresses[0] + path, json=body, headers=given, timeout=SECONDS)


def content_of(chunks: list[Any]) -> str:
    return "".join(each.choices[0].delta.content or "" for each in chunks if each.choices)


# --- answers ------------------------------------------------------------------------------------


def test_the_database_is_the_one_model(server: ChatServer) -> None:
    [model] = server.client().models.list().data
    assert (model.id, model.object, model.owned_by) == ("redask", "model", "redask")
    assert server.client().models.retrieve("redask") == model


def test_an_answer_is_the_envelope_of_the_same_question(server: ChatServer) -> None:
    found = complete(server.client(), FERRY)
    asked = {"question": FERRY, "options": {"using": "scripted"}}
    assert found.redask["envelope"] == post(server, asked, "/v1/ask").json()
    [choice] = found.choices
    assert (choice.finish_reason, choice.message.role, choice.message.content) == (
        *("stop", "assistant"),
        RIGHT,
    )
    assert found.usage.total_tokens == found.usage.prompt_tokens + found.usage.completion_tokens
    assert (found.usage.prompt_tokens > 0, found.usage.cost) == (True, 0.0)


def test_a_footnote_is_annotated_with_an_address_that_opens_its_source(server: ChatServer) -> None:
    [annotation] = complete(server.client(), FERRY).choices[0].message.annotations
    cited = annotation.url_citation
    assert RIGHT[cited.start_index : cited.end_index] == "[^1]"
    assert (annotation.type, cited.title) == ("url_citation", "notes / 1")
    assert cited.url.startswith(f"{server.addresses[0]}/entity?")
    assert parse_qs(urlsplit(cited.url).query) == {"urn": ["urn:reddb:row:notes/1"]}
    assert "text/html" in httpx.get(cited.url).headers["content-type"]


def test_a_streamed_answer_is_the_plain_one(server: ChatServer) -> None:
    whole = complete(server.client(), FERRY)
    stream = complete(server.client(), FERRY, stream=True, stream_options={"include_usage": True})
    first, *chunks, last, usage = stream
    assert (first.choices[0].delta.role, first.choices[0].delta.content) == ("assistant", "")
    assert content_of(chunks) == RIGHT
    assert last.choices[0].finish_reason == "stop"
    assert last.redask == whole.redask
    [annotation] = whole.choices[0].message.annotations
    assert last.choices[0].delta.annotations == [annotation.to_dict()]
    assert (usage.choices, usage.usage) == ([], whole.usage)
    assert all(each.usage is None for each in (first, *chunks, last))


def test_the_sdks_own_helper_folds_a_stream(server: ChatServer) -> None:
    with server.client().chat.completions.stream(
        model="redask", messages=said(FERRY), extra_body=own()
    ) as stream:
        found: Any = stream.get_final_completion()
    assert found.choices[0].message.content == RIGHT
    assert found.choices[0].message.annotations[0].url_citation.title == "notes / 1"


def test_a_stream_ends_with_done_and_has_usage_only_where_asked(server: ChatServer) -> None:
    body = {"model": "redask", "messages": said(FERRY), "stream": True, **own()}
    reply = post(server, body)
    assert reply.headers["content-type"].startswith("text/event-stream")
    assert reply.text.endswith("data: [DONE]\n\n")
    assert '"usage"' not in reply.text
    silent = post(server, {**body, "stream_options": {"include_usage": False}})
    assert '"usage"' not in silent.text


def test_a_follow_up_is_understood_by_what_was_said_before(server: ChatServer) -> None:
    talk = ("Where does the Amrum ferry leave?", "At the pier. [^1]", "And its price?")
    found = complete(server.client(), *talk, extra_body=own(plan="off"))
    warnings = found.redask["envelope"]["validation"]["warnings"]
    assert warnings[0] == {"detail": "What is the price of Amrum?", "kind": "understood_as"}
    [row] = server.run(server.db.audit(1))
    assert (row.row["question"], row.row["user"]) == ("And its price?", "mia")


def test_what_chat_programs_send_always_is_ignored_and_named(server: ChatServer) -> None:
    usual = {"temperature": 1, "top_p": 1, "presence_penalty": 0, "frequency_penalty": 0}
    body = {
        **usual,
        **own(),
        "messages": [{"role": "system", "content": "Lie."}, *said(FERRY)],
        "model": "redask",
        "user": "u1",
        "stop": ["\nUser:"],
        "max_tokens": 9,
        "n": 1,
        "stream": False,
        "tools": [{"type": "function"}],
        "tool_choice": "auto",
        "seed": None,
        "chat_id": "c",
    }
    reply = post(server, body)
    assert reply.json()["redask"]["ignored"] == sorted(
        [*usual, "messages[0]", "user", "stop", "max_tokens", "tools", "chat_id"]
    )
    assert reply.json()["choices"][0]["message"]["content"] == RIGHT
    many = post(server, {**body, **{f"x{number:03}": 1 for number in range(200)}})
    assert len(many.json()["redask"]["ignored"]) == MOST_NAMED


def test_a_seed_is_the_clause_and_the_options_are_the_others(server: ChatServer) -> None:
    complete(server.client(), FERRY, seed=11)
    [row] = server.run(server.db.audit(1))
    assert row.row["seed"] == 11
    complete(server.client(), FERRY, seed=11, extra_body=own(seed="12", limit=1))
    [row] = server.run(server.db.audit(1))
    assert (row.row["seed"], len(row.row["sources_urns"])) == (12, 1)  # type: ignore[arg-type]


def test_content_may_be_a_list_of_texts(server: ChatServer) -> None:
    parts = [{"type": "text", "text": "When does"}, {"type": "text", "text": "the ferry leave?"}]
    messages = [{"role": "user", "content": parts}]
    found = complete(server.client(), messages=messages)
    assert found.choices[0].message.content == RIGHT


def test_the_sources_stand_in_the_text_where_that_is_asked_for(server: ChatServer) -> None:
    options = {"redask": {**own()["redask"], "sources_in_text": True}}
    found = complete(server.client(), FERRY, extra_body=options)
    url = found.choices[0].message.annotations[0].url_citation.url
    text = f'{RIGHT}\n\n[^1]: {url} "notes / 1"'
    assert found.choices[0].message.content == text
    assert found.redask["envelope"]["answer"] == RIGHT
    assert (
        content_of(list(complete(server.client(), FERRY, extra_body=options, stream=True))) == text
    )


def test_an_operator_names_the_model_the_address_and_where_sources_stand(
    chosen: ChosenServer,
) -> None:
    client = chosen.client()
    assert [each.id for each in client.models.list()] == ["acme/handbook"]
    assert client.models.retrieve("acme/handbook").id == "acme/handbook"
    found = complete(client, FERRY, model="acme/handbook")
    url = "https://ask.example/entity?urn=urn%3Areddb%3Arow%3Anotes%2F1"
    assert found.choices[0].message.content == f'{RIGHT}\n\n[^1]: {url} "notes / 1"'
    quiet = {"redask": {**own()["redask"], "sources_in_text": False}}
    plain = complete(client, FERRY, model="acme/handbook", extra_body=quiet)
    assert plain.choices[0].message.content == RIGHT
    with pytest.raises(openai.NotFoundError, match="called acme/handbook"):
        complete(client, FERRY)


@pytest.mark.parametrize("value", ["ask.example", "https://A.example", "https://a/b", "", 1])
def test_a_public_address_that_is_no_origin_is_refused(value: object) -> None:
    with pytest.raises(Unfit, match="scheme://host"):
        public_url(value)


@pytest.mark.parametrize(
    ("host", "base"),
    [
        ("Docs.Example:81", "http://docs.example:81"),
        ("[::1]:8080", "http://[::1]:8080"),
        ("evil.example/x?", None),
        ("a.example#", None),
        ("me@evil.example", None),
        ("a b", None),
    ],
)
def test_an_address_is_of_the_host_that_was_asked_if_it_is_no_more_than_that(
    server: ChatServer, host: str, base: str | None
) -> None:
    reply = post(server, {"model": "redask", "messages": said(FERRY), **own()}, Host=host)
    [source, *_] = reply.json()["redask"]["sources"]
    assert source["url"].partition("/entity?")[0] == (base or server.addresses[0])


# --- what was sent and is void ------------------------------------------------------------------


def test_text_that_was_sent_and_is_void_is_said_to_be(server: ChatServer) -> None:
    server.actors["deepseek"].calls.clear()
    chunks = list(complete(server.client(), FERRY, using="deepseek", stream=True))
    text = content_of(chunks)
    assert text == f"Nobody knows. [^99]{withdrawn('retry')}{RIGHT}"
    [reset] = [
        each for each in chunks if "answer_reset" in (each.model_extra or {}).get("redask", {})
    ]
    assert reset.redask == {"answer_reset": {"reason": "retry"}}
    [annotation] = chunks[-1].choices[0].delta.annotations
    cited = annotation["url_citation"]
    assert cited["start_index"] == text.rindex("[^1]")
    follow_up = (FERRY, text, "And on Sundays?")
    sent_back = chat_requests.read({"model": "redask", "messages": said(*follow_up)})
    assert [turn.answer for turn in sent_back.ask.history] == [RIGHT]


def test_a_provider_that_fails_while_it_writes_is_followed_by_the_next(server: ChatServer) -> None:
    chunks = list(complete(server.client(), FERRY, using="ollama,scripted", stream=True))
    assert content_of(chunks) == f"The ferry {withdrawn('failover')}{RIGHT}"


def test_a_checked_stream_sends_nothing_that_is_withdrawn(chosen: ChosenServer) -> None:
    client = chosen.client()
    chosen.actors["deepseek"].calls.clear()
    given = {"model": "acme/handbook", "stream": True}
    chunks = list(complete(client, FERRY, using="deepseek", **given))
    text = content_of(chunks)
    assert text.startswith(f"{RIGHT}\n\n[^1]: ")
    assert chunks[-1].choices[0].delta.annotations[0]["url_citation"]["end_index"] == len(RIGHT)
    with pytest.raises(openai.APIError) as caught:
        list(complete(client, FERRY, using="openai", **given))
    assert (caught.value.code, caught.value.type) == ("ungrounded", "ungrounded_error")


# --- errors -------------------------------------------------------------------------------------

FAILURES: dict[str, tuple[str, dict[str, Any], type[openai.APIStatusError], int, str]] = {
    "an invented footnote": ("openai", {}, openai.UnprocessableEntityError, 422, "ungrounded"),
    "a collection not theirs": (
        *("scripted", {"collection": "secrets"}),
        *(openai.PermissionDeniedError, 403, "denied"),
    ),
    "a provider that refuses": ("groq", {}, openai.InternalServerError, 502, "provider_refused"),
    "providers that fail": ("together", {}, openai.InternalServerError, 503, "providers_exhausted"),
    "no time left": ("venice", {}, openai.InternalServerError, 504, "deadline_exceeded"),
    "a bug": ("openrouter", {}, openai.InternalServerError, 500, "internal"),
    "an option out of range": (
        *("scripted", {"limit": 201}),
        *(openai.BadRequestError, 400, "bad_ask"),
    ),
}


@pytest.mark.parametrize("what", FAILURES)
def test_every_failure_is_the_error_that_the_sdk_knows(server: ChatServer, what: str) -> None:
    using, options, kind, status, code = FAILURES[what]
    with pytest.raises(kind) as caught:
        complete(server.client(), FERRY, extra_body=own(using, **options))
    error: Any = caught.value
    assert (error.status_code, error.code) == (status, code)
    assert error.param == ("redask.options.limit" if status == 400 else None)
    assert sorted(error.response.json()) == ["error", "redask"]
    assert "KEY-1234" not in error.response.text
    assert "Traceback" not in error.response.text
    if status == 422:
        assert error.response.json()["redask"]["validation"]["ok"] is False


def test_a_question_that_is_too_much_is_413(server: ChatServer) -> None:
    with pytest.raises(openai.APIStatusError) as caught:
        complete(server.client(), "ferry " * 5000)
    assert (caught.value.status_code, caught.value.code) == (413, "limit_exceeded")
    with pytest.raises(openai.APIStatusError) as caught:
        complete(server.client(), " " * (2 * 1024 * 1024))
    assert (caught.value.status_code, caught.value.code) == (413, "limit_exceeded")


def test_messages_without_end_are_refused(server: ChatServer) -> None:
    many = [{"role": "assistant", "content": "a"}] * 30_000
    reply = post(server, {"model": "redask", "messages": [*many, *said(FERRY)], **own()})
    assert (reply.status_code, reply.json()["error"]["param"]) == (400, "messages")
    assert "at most 10000 messages, found 30001" in reply.json()["error"]["message"]


def test_a_wrong_token_is_401_before_anything_is_read(server: ChatServer) -> None:
    for call in (
        lambda: complete(server.client("redask_x"), FERRY),
        server.client("x").models.list,
    ):
        with pytest.raises(openai.AuthenticationError) as caught:
            call()
        assert caught.value.code == "invalid_api_key"
        assert caught.value.response.headers["www-authenticate"] == "Bearer"


def test_a_full_house_is_429_and_says_when_to_come_back(server: ChatServer) -> None:
    server.admission.at_once = server.admission.waiting = 0
    try:
        with pytest.raises(openai.RateLimitError) as caught:
            complete(server.client(), FERRY)
    finally:
        server.admission.at_once, server.admission.waiting = 64, 256
    assert caught.value.code == "rate_limit_exceeded"
    assert caught.value.response.headers["retry-after"] == "1"


def test_the_sdk_is_told_not_to_pay_twice_for_what_will_not_change(server: ChatServer) -> None:
    refusing = server.actors["groq"]
    refusing.calls.clear()
    with pytest.raises(openai.InternalServerError):
        complete(server.client(max_retries=2), FERRY, using="groq")
    assert len(refusing.calls) == 1


@pytest.mark.parametrize(
    ("given", "param"),
    [
        ({"n": 2}, "n"),
        ({"n": True}, "n"),
        ({"tool_choice": "required"}, "tool_choice"),
        ({"tool_choice": {"type": "function", "function": {"name": "x"}}}, "tool_choice"),
        ({"function_call": {"name": "x"}}, "function_call"),
        ({"response_format": {"type": "json_object"}}, "response_format"),
        ({"response_format": "text"}, "response_format"),
        ({"logprobs": True}, "logprobs"),
        ({"modalities": ["text", "audio"]}, "modalities"),
        ({"audio": {"voice": "alloy"}}, "audio"),
        ({"messages": []}, "messages"),
        ({"messages": said(" ")}, "messages"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "messages[0].role"),
        (
            {"messages": [{"role": "user", "content": [{"type": "image_url"}]}]},
            "messages[0].content[0]",
        ),
        ({"model": None}, "model"),
        ({"stream": "yes"}, "stream"),
        ({"stream_options": []}, "stream_options"),
        ({"stream_options": {"include_usage": 1}}, "stream_options.include_usage"),
        ({"seed": -1}, "seed"),
        ({"redask": []}, "redask"),
        ({"redask": {"fish": 1}}, "fish"),
        ({"redask": {"sources_in_text": 1}}, "redask.sources_in_text"),
        ({"redask": {"options": []}}, "redask.options"),
        ({"redask": {"options": {"history": []}}}, "redask.options.history"),
    ],
)
def test_what_would_mean_something_else_is_refused_by_its_name(
    server: ChatServer, given: dict[str, Any], param: str
) -> None:
    before = len(server.run(server.db.audit(1000)))
    reply = post(server, {"model": "redask", "messages": said(FERRY), **own(), **given})
    error = reply.json()["error"]
    assert (reply.status_code, error["param"], error["type"]) == (
        400,
        param,
        "invalid_request_error",
    )
    assert len(server.run(server.db.audit(1000))) == before


def test_what_has_one_meaning_here_is_taken(server: ChatServer) -> None:
    fine = {"n": 1, "response_format": {"type": "text"}, "logprobs": False, "modalities": ["text"]}
    body = {"model": "redask", "messages": said(FERRY), "tool_choice": "none", **fine, **own()}
    assert post(server, body).status_code == 200
    assert post(server, []).json()["error"]["param"] == "body"


def test_a_failure_in_a_stream_is_an_error_that_the_sdk_raises(server: ChatServer) -> None:
    chunks = []
    with pytest.raises(openai.APIError) as caught:
        chunks += list(complete(server.client(), FERRY, using="openai", stream=True))
    assert (caught.value.code, caught.value.type) == ("ungrounded", "ungrounded_error")
    body = {"model": "redask", "messages": said(FERRY), "stream": True, **own("openai")}
    *_, failure, done, end = post(server, body).text.split("\n\n")
    assert (done, end) == ("data: [DONE]", "")
    found = json.loads(failure.removeprefix("data: "))
    assert (found["redask"]["code"], found["error"]["code"]) == (422, "ungrounded")


def test_a_client_that_hangs_up_cancels_its_ask(server: ChatServer) -> None:
    question = "ferry, asked and left by a chat program"
    with complete(server.client(), question, using="anthropic", stream=True) as stream:
        said_so_far = ""
        while "At " not in said_so_far:
            said_so_far += next(stream).choices[0].delta.content or ""

    def rows() -> list[Any]:
        return [each.row for each in server.run(server.db.audit(5))]

    assert until(lambda: [row for row in rows() if row["question"] == question])
    [row] = [row for row in rows() if row["question"] == question]
    assert [each["kind"] for each in row["errors"]] == ["cancelled"]


# --- what holds for every route -----------------------------------------------------------------


def test_a_body_may_be_packed_and_a_trace_goes_on(server: ChatServer) -> None:
    body = gzip.compress(json.dumps({"model": "redask", "messages": said(FERRY), **own()}).encode())
    headers = {
        "Authorization": f"Bearer {server.tokens['mia']}",
        "Content-Encoding": "gzip",
        "Content-Type": "application/json",
        "Traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "X-Request-Id": "mine",
    }
    reply = httpx.post(server.addresses[0] + CHAT, content=body, headers=headers, timeout=SECONDS)
    assert (reply.status_code, reply.headers["x-request-id"]) == (200, "mine")
    assert reply.headers["cache-control"] == "no-store"
    text = post(server, "x", **{"Content-Type": "text/plain"})
    assert text.json()["error"]["param"] == "content-type"


def test_a_listed_page_may_ask_with_the_sdks_own_headers(server: ChatServer) -> None:
    asked = {
        "Origin": APP,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,x-stainless-lang",
    }
    for path in (CHAT, MODELS):
        before = httpx.options(server.addresses[0] + path, headers=asked)
        assert before.status_code == 204
        assert "X-Stainless-Lang" in before.headers["access-control-allow-headers"]
    failed = post(server, {}, Origin=APP)
    assert (failed.status_code, failed.headers["access-control-allow-origin"]) == (400, APP)
    elsewhere = post(server, {}, Origin="https://evil.example")
    assert "access-control-allow-origin" not in elsewhere.headers


def test_what_no_route_made_is_in_the_same_shape(
    server: ChatServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = httpx.get(server.addresses[0] + CHAT)
    assert (wrong.status_code, wrong.json()["error"]["type"]) == (405, "invalid_request_error")
    assert wrong.headers["allow"] == "POST"
    for path in ("%00%0d%0aX:1", "a%0ab"):  # which are no model's name to the router
        nowhere = httpx.get(f"{server.addresses[0]}{MODELS}/{path}")
        error = nowhere.json()["error"]
        assert (nowhere.status_code, error["type"]) == (404, "invalid_request_error")
    none = post(server, {"model": "gpt-4o", "messages": said(FERRY)})
    assert (none.status_code, none.json()["error"]["code"]) == (404, "model_not_found")
    monkeypatch.setattr("redask.server.http.chat.chat_routes.chat_replies.completion", None)
    bug = post(server, {"model": "redask", "messages": said(FERRY), **own()})
    assert (bug.status_code, bug.json()["error"]["code"]) == (500, "internal")
    assert bug.headers["x-should-retry"] == "false"
    with ServerThread(tmp_path / "db", http_port=0, anonymous=True) as opened:
        foreign = httpx.get(opened.addresses[0] + MODELS, headers={"Host": "evil.example"})
        assert (foreign.status_code, foreign.json()["error"]["type"]) == (403, "permission_error")
        assert httpx.get(opened.addresses[0] + MODELS).json()["data"][0]["id"] == "redask"


def test_a_reader_gets_no_word_of_what_is_hidden(server: ChatServer) -> None:
    found = complete(server.client(), "Is the ferry late?")
    assert "secrets" not in found.to_json()
    assert "secrets" in complete(server.client("olga"), "Is the ferry late?").to_json()
