"""Where the specification and what SDKs do collide: each decision of the notes on wire formats."""

import json

import httpx
import pytest

import wire
import world
from wire import ALPHA, BETA, chat, good, messages, refusal, user

RUN = {"model": ALPHA, "max_tokens": 100, "messages": [user("Hi.")]}


def send(path: str, headers: dict, body=None, method: str = "POST") -> httpx.Response:
    return httpx.request(method, world.GATEWAY + path, headers=headers, json=body, timeout=world.TIMEOUT_S)


def test_a_key_header_counts_on_the_messages_surface_and_only_without_a_bearer(key):
    bearer = {"authorization": f"Bearer {key}"}
    good(send("/v1/messages", {"x-api-key": key}, RUN))
    good(send("/v1/messages", {**bearer, "x-api-key": "placeholder"}, RUN))
    refusal(send("/v1/messages", {"authorization": "Bearer nonsense", "x-api-key": key}, RUN), 401, "INVALID_API_KEY")
    refusal(send("/v1/messages", {}, RUN), 401, "INVALID_API_KEY")
    refusal(send("/v1/chat/completions", {"x-api-key": key}, RUN), 401, "INVALID_API_KEY")
    assert send("/v1/ai/chat", {"x-api-key": key}, {"message": "Hi."}).status_code == 401


def test_a_thread_is_refused_in_the_words_that_let_the_sdk_repeat(key, fake, model):
    error = refusal(messages(key, model, "Hi.", thread={"type": "create"}), 400, "UNSUPPORTED_PARAMETER")
    assert error["param"] == "thread"
    assert error["details"] == {"error_code": "thread_unsupported_request", "unsupported": ["thread"]}
    assert fake.requests() == []


@pytest.mark.parametrize("field", ["store", "conversation_id", "container", "mcp_servers", "phi_mode", "betas"])
def test_what_does_not_conform_is_refused_by_name(key, fake, model, field):
    assert refusal(messages(key, model, "Hi.", **{field: "x"}), 400, "UNSUPPORTED_PARAMETER")["param"] == field
    assert refusal(chat(key, model, "Hi.", **{field: "x"}), 400, "UNSUPPORTED_PARAMETER")["param"] == field
    assert fake.requests() == []


def test_what_conforms_is_taken(key, fake, model):
    more = {
        "system": [{"type": "text", "text": "Be brief."}],
        "tools": [{"type": "custom", **wire.TOOL}],
        "tool_choice": {"type": "auto", "disable_parallel_tool_use": True},
        "stop_sequences": ["STOP"],
        "metadata": {"user_id": "u1"},
        "service_tier": "auto",
        "temperature": 0.5,
    }
    good(messages(key, model, [user([{"type": "text", "text": "Hi."}])], **more))
    sent = json.dumps(fake.bodies()[0])
    assert all(word in sent for word in ("Be brief.", "weather", "STOP", "u1"))


def test_queries_and_unknown_headers_change_nothing(key, model):
    headers = {"authorization": f"Bearer {key}", "anthropic-beta": "some-beta-2026-01-01", "x-stainless-lang": "js"}
    good(send("/v1/messages?beta=true", headers, {**RUN, "model": model}))


def test_newer_names_and_bookkeeping_pass_on_chat_completions(key, fake, model):
    more = {
        "max_completion_tokens": 60,
        "parallel_tool_calls": False,
        "tools": [{"type": "function", "function": {**wire.FUNCTION["function"], "strict": True}}],
        "store": False,
        "metadata": {"a": "b"},
    }
    good(chat(key, model, "Hi.", **more))
    [body] = fake.bodies()
    assert "metadata" not in body and "store" not in body
    if model == ALPHA:
        assert body["tool_choice"]["disable_parallel_tool_use"] is True
    else:
        assert body["parallel_tool_calls"] is False


@pytest.mark.parametrize("asked", [None, {"include_usage": False}, {"include_usage": True}])
def test_a_stream_always_tells_its_usage(key, model, asked):
    more = {} if asked is None else {"stream_options": asked}
    chunks = wire.chunks(chat(key, model, "Hi.", stream=True, **more))
    assert chunks[-1]["choices"] == [] and chunks[-1]["usage"]["completion_tokens"] > 0
    assert chunks[-2]["choices"][0]["finish_reason"] == "stop"


SCHEMA = {"name": "weather", "schema": world.WEATHER_SCHEMA, "strict": True}


def test_a_schema_for_the_reply_is_honoured_by_both_kinds(key, fake, model):
    format = {"type": "json_schema", "json_schema": SCHEMA}
    reply = good(chat(key, model, "Weather?", response_format=format))
    assert set(json.loads(reply["choices"][0]["message"]["content"])) == {"city"}
    good(messages(key, model, "Weather?", output_config={"format": {"type": "json_schema", "schema": world.WEATHER_SCHEMA}}))
    good(chat(key, model, "Weather?", response_format={"type": "text"}))
    assert all(json.dumps(world.WEATHER_SCHEMA)[1:-1] in json.dumps(body) for body in fake.bodies()[:2])


@pytest.mark.parametrize(
    "stop_reason, finish_reason",
    [("max_tokens", "length"), ("model_context_window_exceeded", "length"), ("refusal", "content_filter"), ("end_turn", "stop")],
)
def test_truncation_and_refusal_are_visible(key, fake, stop_reason, finish_reason):
    fake.expect(*[{"text": "Well", "stop_reason": stop_reason}] * 3)
    assert good(chat(key, ALPHA, "Hi."))["choices"][0]["finish_reason"] == finish_reason
    streamed = wire.chunks(chat(key, ALPHA, "Hi.", stream=True))
    assert streamed[-2]["choices"][0]["finish_reason"] == finish_reason
    assert good(messages(key, ALPHA, "Hi."))["stop_reason"] == stop_reason


@pytest.mark.parametrize("finish, stop_reason", [("length", "max_tokens"), ("content_filter", "refusal")])
def test_truncation_and_refusal_of_kind_b_are_visible(key, fake, finish, stop_reason):
    fake.expect(*[{"text": "Well", "stop_reason": finish}] * 2)
    assert good(messages(key, BETA, "Hi."))["stop_reason"] == stop_reason
    assert wire.message_events(messages(key, BETA, "Hi.", stream=True))[-2]["delta"]["stop_reason"] == stop_reason


def test_blocked_patient_data_has_the_native_envelope_and_a_type(model):
    blocking = world.organization("--phi-mode", "block")
    answer = messages(blocking, model, f"SSN {world.SSN}")
    body = answer.json()
    assert (answer.status_code, body["type"], body["success"]) == (403, "error", False)
    assert (body["error"]["code"], body["error"]["type"]) == ("PHI_BLOCKED", "permission")
    assert body["meta"]["request_id"] == answer.headers["request-id"]
    assert "SSN" in body["error"]["details"]["entity_types"] and world.SSN not in answer.text


def test_types_of_errors_are_the_five_of_the_specification(key, fake, model):
    no_baa, unscoped = world.organization("--no-baa"), world.organization("--scopes", "control:read")
    limited = world.organization("--per-minute", "1")
    good(messages(limited, model, "Hi."))
    fake.expect({"status": 500})
    failed = messages(key, model, "Hi.")
    cases = [
        (messages(key, model, "Hi.", store=True), 400, "invalid_request_error"),
        (messages("svc_api_live_unknown", model, "Hi."), 401, "authentication_error"),
        (messages(no_baa, model, "Hi."), 402, "permission_error"),
        (messages(unscoped, model, "Hi."), 403, "permission_error"),
        (send("/v1/messages/batches", {}, {}), 404, "invalid_request_error"),
        (send("/v1/messages", {}, method="GET"), 405, "invalid_request_error"),
        (messages(key, world.RETIRED_MODEL, "Hi."), 410, "invalid_request_error"),
        (messages(key, model, "a" * world.TOO_LONG_CHARS), 413, "invalid_request_error"),
        (messages(key, model, "Hi.", max_tokens=0), 422, "invalid_request_error"),
        (messages(limited, model, "Hi."), 429, "rate_limit_error"),
        (failed, 502, "api_error"),
    ]
    for answer, status, kind in cases:
        body = answer.json()
        assert (answer.status_code, body["type"], body["error"]["type"]) == (status, "error", kind), answer.text
        assert set(body["error"]) == {"type", "message", "code", "param", "details", "retryable", "request_id"}
        assert body["request_id"] == body["error"]["request_id"] == answer.headers["request-id"]


def test_the_types_and_statuses_of_chat_completions(key, fake, model):
    no_baa, unscoped = world.organization("--no-baa"), world.organization("--scopes", "control:read")
    spent, limited = world.organization("--credits", "0"), world.organization("--per-minute", "1")
    good(chat(limited, model, "Hi."))
    fake.expect({"status": 500})
    failed = chat(key, model, "Hi.")
    bearer = {"authorization": f"Bearer {key}"}
    cases = [
        (chat("svc_api_live_unknown", model, "Hi."), 401, "authentication_error", "invalid_api_key"),
        (chat(no_baa, model, "Hi."), 403, "permission_error", "baa_required"),
        (chat(spent, model, "Hi."), 403, "permission_error", "consumption_blocked"),
        (chat(unscoped, model, "Hi."), 403, "permission_error", "missing_scope"),
        (chat(key, "nothing", "Hi."), 400, "invalid_request_error", "model_access_denied"),
        (chat(key, world.RETIRED_MODEL, "Hi."), 400, "invalid_request_error", "model_retired"),
        (chat(key, model, "Hi.", temperature="hot"), 400, "invalid_request_error", "validation_failed"),
        (chat(key, model, "a" * world.TOO_LONG_CHARS), 400, "invalid_request_error", "payload_too_large"),
        (chat(limited, model, "Hi."), 429, "rate_limit_error", "rate_limited"),
        (failed, 500, "api_error", "inference_upstream_failure"),
        (send("/v1/chat/completions/none", bearer, {}), 404, "invalid_request_error", "not_found"),
        (send("/v1/chat/completions", bearer, method="GET"), 405, "invalid_request_error", "method_not_allowed"),
    ]
    for answer, status, kind, code in cases:
        error = answer.json()["error"]
        assert (answer.status_code, error["type"], error["code"]) == (status, kind, code), answer.text
        assert set(error) == {"message", "type", "param", "code", "svc_code"} and error["svc_code"] == code.upper()
        assert answer.headers["x-request-id"] == answer.headers["request-id"]


def test_both_names_of_the_request_id_stand_on_chat_completions(key, model):
    for stream in (False, True):
        answer = chat(key, model, "Hi.", stream=stream)
        assert answer.headers["x-request-id"] == answer.headers["request-id"]
    assert messages(key, model, "Hi.").headers["request-id"].startswith("req_")


@pytest.mark.parametrize("surface", [chat, messages])
@pytest.mark.parametrize("wait, told", [("2", "2"), ("60", "60"), ("61", "60"), ("3600", "60")])
def test_a_wait_that_helps_nobody_is_not_waited_for(key, fake, model, surface, wait, told):
    fake.expect({"status": 429, "retry_after": wait})
    answer = surface(key, model, "Hi.")
    assert "x-should-retry" not in answer.headers and answer.headers["retry-after"] == told


@pytest.mark.parametrize("surface", [chat, messages])
def test_a_spent_budget_is_not_retried(model, surface):
    answer = surface(world.organization("--credits", "0"), model, "Hi.")
    assert answer.status_code in (402, 403) and "retry-after" not in answer.headers


def test_models_come_in_each_sdks_shape(key):
    bearer = {"authorization": f"Bearer {key}"}
    listed = good(send("/v1/models", bearer, method="GET"))
    assert listed["object"] == "list" and {"id", "object", "created", "owned_by"} == set(listed["data"][0])
    paged = good(send("/v1/models", {**bearer, "anthropic-version": wire.CLASSIC}, method="GET"))
    assert (paged["has_more"], paged["first_id"]) == (False, paged["data"][0]["id"])
    assert {entry["id"] for entry in paged["data"]} == {entry["id"] for entry in listed["data"]}
    good(send("/v1/models?limit=1000", {"x-api-key": key, "anthropic-version": wire.CLASSIC}, method="GET"))


@pytest.mark.parametrize("name", ["temperature", "top_p", "top_k"])
def test_the_newer_version_of_the_messages_format_has_no_sampling(key, model, name):
    newer = "2026-10-21"
    good(messages(key, model, "Hi.", version=newer))
    assert refusal(messages(key, model, "Hi.", version=newer, **{name: 1}), 400, "UNSUPPORTED_PARAMETER")["param"] == name


@pytest.mark.parametrize("display", [{}, {"display": "omitted"}], ids=["plain", "display"])
def test_a_budget_of_thinking_is_lowered_with_the_limit(key, fake, display):
    thinking = {"type": "enabled", "budget_tokens": 32_000, **display}
    good(messages(key, ALPHA, "Hi.", max_tokens=60_000, thinking=thinking))
    [body] = fake.bodies()
    assert body["max_tokens"] < 60_000
    assert body["thinking"]["budget_tokens"] == max(1024, 32_000 * body["max_tokens"] // 60_000)


@pytest.mark.parametrize(
    ("param", "more"),
    [
        ("tool_choice", {"tool_choice": {"type": "any"}}),
        ("tool_choice", {"tool_choice": {"type": "tool", "name": wire.TOOL["name"]}}),
        ("temperature", {"temperature": 0.5}),
        ("top_p", {"top_p": 0.5}),
        ("top_k", {"top_k": 3}),
    ],
)
def test_what_cannot_stand_beside_thinking_is_refused_by_name(key, fake, param, more):
    more = {"tools": [wire.TOOL], "max_tokens": 4096, **more}
    good(messages(key, ALPHA, "Hi.", **more))
    thinking = {"type": "enabled", "budget_tokens": 1024}
    answer = messages(key, ALPHA, "Hi.", thinking=thinking, **more)
    assert refusal(answer, 400, "UNSUPPORTED_PARAMETER")["param"] == param
    assert len(fake.requests()) == 1


def test_thinking_without_a_place_is_refused_by_name(key, model):
    answer = messages(key, BETA, "Hi.", max_tokens=4096, thinking={"type": "enabled", "budget_tokens": 1024})
    assert refusal(answer, 400, "UNSUPPORTED_PARAMETER")["param"] == "thinking"


def test_some_json_is_granted_by_kind_b_where_the_messages_speak_of_it(key, fake):
    format = {"type": "json_object"}
    good(chat(key, BETA, "Answer in JSON.", response_format=format))
    assert fake.bodies()[0]["response_format"] == format
    # Kind B refuses it otherwise, and kind A has no such mode.
    assert refusal(chat(key, BETA, "Weather?", response_format=format), 400, "VALIDATION_FAILED")["param"] == "response_format"
    error = refusal(chat(key, ALPHA, "Answer in JSON.", response_format=format), 400, "UNSUPPORTED_PARAMETER")
    assert error["param"] == "response_format"
    assert len(fake.requests()) == 1


@pytest.mark.parametrize("surface", [chat, messages])
@pytest.mark.parametrize("content", ["", " \n", [{"type": "text", "text": " "}]], ids=["empty", "blank", "block"])
def test_a_turn_that_says_nothing_is_refused(key, fake, model, surface, content):
    turn = refusal(surface(key, model, [user(content)]), 400 if surface is chat else 422, "VALIDATION_FAILED")
    assert turn["param"] == "messages[0].content" and fake.requests() == []
