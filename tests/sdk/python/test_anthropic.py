"""The official Anthropic SDK against the messages surface, for both provider kinds."""

import asyncio
import json

import anthropic
import pytest
from anthropic import beta_tool
from pydantic import BaseModel

import world

TOOL = {"name": "weather", "description": "The weather.", "input_schema": world.WEATHER_SCHEMA}
# More than any pool or connection limit is by default.
STREAMS = 200


class Weather(BaseModel):
    city: str
    degrees: int


@pytest.fixture
def client(key):
    with connect(key) as client:
        yield client


def connect(key: str, base: str = world.GATEWAY, max_retries: int = 0) -> anthropic.Anthropic:
    return anthropic.Anthropic(api_key=key, base_url=base, timeout=world.TIMEOUT_S, max_retries=max_retries)


def user(text) -> dict:
    return {"role": "user", "content": text}


def text_of(message) -> str:
    return "".join(block.text for block in message.content if block.type == "text")


def calls_of(message) -> list:
    return [block for block in message.content if block.type == "tool_use"]


def test_plain(client, fake, model):
    word = world.mark()
    reply = client.messages.create(model=model, messages=[user(f"Say {word}.")], max_tokens=200)
    assert (reply.type, reply.role, reply.model, reply.stop_reason) == ("message", "assistant", model, "end_turn")
    assert word in text_of(reply)
    assert reply.usage.input_tokens > 0 and reply.usage.output_tokens > 0
    assert reply._request_id.startswith("req_")
    assert len(fake.bodies()) == 1


def test_several_turns_reach_the_provider_in_order(client, fake, model):
    words = [world.mark() for _ in range(4)]
    messages = [
        user(f"First {words[1]}."),
        {"role": "assistant", "content": [{"type": "text", "text": f"Second {words[2]}."}]},
        user([{"type": "text", "text": f"Third {words[3]}."}]),
    ]
    reply = client.messages.create(model=model, system=f"Be brief, {words[0]}.", messages=messages, max_tokens=200)
    assert words[3] in text_of(reply)
    [body] = fake.bodies()
    sent = json.dumps(body.get("system", "")) + json.dumps(body["messages"])
    places = [sent.index(word) for word in words]
    assert places == sorted(places)


@pytest.mark.parametrize("cities", [("Oslo",), ("Oslo", "Rome", "Lima")])
def test_tools_and_their_results(client, fake, model, cities):
    fake.expect(world.tool_behaviour(*cities))
    messages = [user("What is the weather?")]
    reply = client.messages.create(model=model, messages=messages, tools=[TOOL], max_tokens=200)
    calls = calls_of(reply)
    assert reply.stop_reason == "tool_use"
    assert [call.input["city"] for call in calls] == list(cities)
    results = [
        {"type": "tool_result", "tool_use_id": call.id, "content": world.weather(call.input["city"])}
        for call in calls
    ]
    messages += [{"role": "assistant", "content": reply.content}, user(results)]
    last = client.messages.create(model=model, messages=messages, tools=[TOOL], max_tokens=200)
    assert last.stop_reason == "end_turn"
    assert all(world.weather(city) in text_of(last) for city in cities)


def test_tool_runner(client, fake, model):
    asked = []

    @beta_tool
    def weather(city: str) -> str:
        """The weather in a city.

        Args:
            city: Its name.
        """
        asked.append(city)
        return world.weather(city)

    fake.expect(world.tool_behaviour("Oslo", "Rome"))
    runner = client.beta.messages.tool_runner(
        model=model, messages=[user("What is the weather?")], tools=[weather], max_tokens=200
    )
    last = runner.until_done()
    assert sorted(asked) == ["Oslo", "Rome"]
    assert last.stop_reason == "end_turn" and "sunny in Rome" in text_of(last)


def test_stream(client, model):
    word = world.mark()
    with client.messages.create(model=model, messages=[user(f"Say {word}.")], max_tokens=200, stream=True) as stream:
        events = list(stream)
    kinds = [event.type for event in events if event.type != "ping"]
    assert (kinds[0], kinds[-2], kinds[-1]) == ("message_start", "message_delta", "message_stop")
    deltas = [event.delta.text for event in events if event.type == "content_block_delta"]
    assert word in "".join(deltas)
    end = next(event for event in events if event.type == "message_delta")
    assert end.delta.stop_reason == "end_turn" and end.usage.output_tokens > 0


@pytest.mark.parametrize("cities", [("Oslo",), ("Oslo", "Rome")])
def test_stream_helper_with_tools(client, fake, model, cities):
    fake.expect({"text": "Let me look.", **world.tool_behaviour(*cities)})
    messages = [user("What is the weather?")]
    with client.messages.stream(model=model, messages=messages, tools=[TOOL], max_tokens=200) as stream:
        reply = stream.get_final_message()
    assert reply.stop_reason == "tool_use" and text_of(reply) == "Let me look."
    assert [call.input for call in calls_of(reply)] == [{"city": city} for city in cities]


def test_thinking_goes_back_unchanged(client, fake):
    model = world.MODELS[0]
    fake.expect({"thinking": "Hmm.", **world.tool_behaviour("Oslo")})
    messages = [user("What is the weather?")]
    thinking = {"type": "enabled", "budget_tokens": 1024}
    more = {"model": model, "tools": [TOOL], "max_tokens": 4096, "thinking": thinking}
    reply = client.messages.create(messages=messages, **more)
    first = reply.content[0]
    assert (first.type, first.thinking) == ("thinking", "Hmm.") and first.signature
    [call] = calls_of(reply)
    result = {"type": "tool_result", "tool_use_id": call.id, "content": "sunny"}
    messages += [{"role": "assistant", "content": reply.content}, user([result])]
    client.messages.create(messages=messages, **more)
    sent = fake.bodies()[1]["messages"][1]["content"][0]
    assert (sent["thinking"], sent["signature"]) == ("Hmm.", first.signature)


def test_tokens_are_counted(client, fake, model):
    said = {"model": model, "system": "Be brief.", "tools": [TOOL]}
    word = world.mark()
    plain = client.messages.count_tokens(messages=[user(f"Say {word}.")], **said)
    longer = client.messages.count_tokens(messages=[user(f"Say {word} to {world.SSN}. " * 20)], **said)
    beta = client.beta.messages.count_tokens(messages=[user(f"Say {word}.")], **said)
    assert 0 < plain.input_tokens == beta.input_tokens < longer.input_tokens
    assert plain._request_id.startswith("req_")
    sent = fake.requests()
    if model == world.MODELS[0]:
        assert {request["path"] for request in sent} == {"/v1/messages/count_tokens"}
        assert "[SSN_1]" in json.dumps(sent[1]["body"])
    else:
        # This provider kind cannot count; the gateway estimates, and nobody else hears of it.
        assert sent == []
    error = refused_count(client, model="no-such-model", messages=[user("Hello.")])
    assert (type(error), error.body["error"]["code"]) == (anthropic.PermissionDeniedError, "MODEL_ACCESS_DENIED")


def refused_count(client, **asked) -> anthropic.APIStatusError:
    with pytest.raises(anthropic.APIStatusError) as caught:
        client.messages.count_tokens(**asked)
    return caught.value


def test_image(client, fake, model):
    source = {"type": "base64", "media_type": "image/png", "data": world.PIXEL_PNG}
    parts = [{"type": "image", "source": source}, {"type": "text", "text": "What is this?"}]
    reply = client.messages.create(model=model, messages=[user(parts)], max_tokens=200)
    assert text_of(reply)
    [body] = fake.bodies()
    assert world.PIXEL_PNG in json.dumps(body)


@pytest.mark.parametrize(
    "source",
    [
        {"type": "base64", "media_type": "application/pdf", "data": world.PAGE_PDF},
        {"type": "text", "media_type": "text/plain", "data": "An old letter."},
    ],
    ids=["pdf", "text"],
)
def test_document(client, fake, model, source):
    page = {"type": "document", "source": source, "title": "page"}
    parts = [page, {"type": "text", "text": "What is this?"}]
    assert text_of(client.messages.create(model=model, messages=[user(parts)], max_tokens=200))
    [body] = fake.bodies()
    assert source["data"] in json.dumps(body) and "page" in json.dumps(body)


def test_structured_output(client, model):
    reply = client.messages.parse(model=model, messages=[user("Weather?")], max_tokens=200, output_format=Weather)
    assert isinstance(reply.parsed_output, Weather) and reply.parsed_output.city


def test_models(client):
    listed = {entry.id for entry in client.models.list()}
    assert set(world.MODELS) <= listed
    model = client.models.retrieve(world.MODELS[0])
    assert model.id == world.MODELS[0]
    # Fields that the SDK's types require are really there.
    type(model).model_validate(model.to_dict())
    assert model.lifecycle == "active" and model.max_input_tokens > model.max_tokens > 0
    first = client.models.list(limit=1)
    assert len(first.data) == 1 and first.has_more
    assert {entry.id for entry in first} == listed
    assert client.models.list(limit=1, before_id=first.get_next_page().data[0].id).data == first.data
    with pytest.raises(anthropic.UnprocessableEntityError):
        client.models.list(after_id="no-such-model")


def test_patient_data_is_replaced(client, fake, model):
    word = world.mark()
    text = f"{word}: my SSN is {world.SSN}, call me at {world.PHONE}."
    assert text_of(client.messages.create(model=model, messages=[user(text)], max_tokens=200))
    [body] = fake.bodies()
    sent = json.dumps(body)
    assert word in sent and "[SSN_1]" in sent and "[PHONE_1]" in sent
    assert world.SSN not in sent and world.PHONE not in sent


def refused(key: str, model: str, text: str = "Hello.", base: str = world.GATEWAY, **more) -> anthropic.APIStatusError:
    """The error of a call that must fail."""
    with connect(key, base) as client:
        with pytest.raises(anthropic.APIStatusError) as caught:
            client.messages.create(model=model, messages=[user(text)], **({"max_tokens": 200} | more))
    error = caught.value
    assert error.request_id and error.request_id.startswith("req_")
    assert error.body["type"] == "error"
    return error


def test_refusals_raise_the_right_class(key, model):
    blocking = world.organization("--phi-mode", "block")
    unscoped = world.organization("--scopes", "control:read")
    cases = [
        (refused("svc_api_live_unknown", model), anthropic.AuthenticationError, 401, "INVALID_API_KEY"),
        (refused(world.organization("--no-baa"), model), anthropic.PaymentRequiredError, 402, "BAA_REQUIRED"),
        (refused(world.organization("--credits", "0"), model), anthropic.PaymentRequiredError, 402, "CONSUMPTION_BLOCKED"),
        (refused(unscoped, model), anthropic.PermissionDeniedError, 403, "MISSING_SCOPE"),
        (refused(blocking, model, f"SSN {world.SSN}"), anthropic.PermissionDeniedError, 403, "PHI_BLOCKED"),
        (refused(key, "no-such-model"), anthropic.PermissionDeniedError, 403, "MODEL_ACCESS_DENIED"),
        (refused(key, world.RETIRED_MODEL), anthropic.APIStatusError, 410, "MODEL_RETIRED"),
        (refused(key, model, "a" * world.TOO_LONG_CHARS), anthropic.RequestTooLargeError, 413, "PAYLOAD_TOO_LARGE"),
        (refused(key, model, max_tokens=0), anthropic.UnprocessableEntityError, 422, "VALIDATION_FAILED"),
        (refused(key, model, extra_body={"store": True}), anthropic.BadRequestError, 400, "UNSUPPORTED_PARAMETER"),
    ]
    for error, kind, status, code in cases:
        assert (type(error), error.status_code, error.body["error"]["code"]) == (kind, status, code), error
        assert world.SSN not in str(error)


def test_what_is_not_there_is_not_found(client):
    with pytest.raises(anthropic.NotFoundError):
        client.messages.batches.list()
    with pytest.raises(anthropic.NotFoundError):
        client.models.retrieve("no-such-model")


def test_a_rate_limit_says_how_long_to_wait(model):
    limited = world.organization("--per-minute", "1")
    with connect(limited) as client:
        client.messages.create(model=model, messages=[user("Hello.")], max_tokens=200)
    error = refused(limited, model)
    assert (type(error), error.body["error"]["code"]) == (anthropic.RateLimitError, "RATE_LIMITED")
    assert 1 <= int(error.response.headers["retry-after"]) <= 60


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 529])
def test_a_failing_provider_is_a_server_error(key, fake, model, status):
    word = world.mark()
    fake.expect({"status": status, "error_message": f"secret words {word}"})
    error = refused(key, model)
    assert (type(error), error.status_code) == (anthropic.InternalServerError, 502)
    assert error.body["error"]["code"] == "INFERENCE_UPSTREAM_FAILURE"
    assert word not in str(error) and word not in error.response.text


def test_a_gateway_without_its_detector_is_unavailable(model):
    error = refused(world.organization_of_broken_gateway(), model, base=world.BROKEN_GATEWAY)
    assert (type(error), error.status_code) == (anthropic.ServiceUnavailableError, 503)
    assert error.body["error"]["code"] == "INFERENCE_UNAVAILABLE"


def test_a_retry_waits_as_long_as_it_is_told(key, fake, model):
    fake.expect({"status": 529, "retry_after": "2"})
    with connect(key, max_retries=2) as client:
        reply = client.messages.create(model=model, messages=[user("Hello.")], max_tokens=200)
    assert reply.stop_reason == "end_turn"
    first, second = (request["received_at_us"] for request in fake.requests())
    # The SDK's own pause is half a second.
    assert 1.9 <= (second - first) / 1e6


def test_what_a_provider_rejects_is_not_repeated(key, fake, model):
    fake.expect({"status": 400})
    with connect(key, max_retries=2) as client:
        with pytest.raises(anthropic.InternalServerError) as caught:
            client.messages.create(model=model, messages=[user("Hello.")], max_tokens=200)
    assert caught.value.response.headers["x-should-retry"] == "false"
    assert len(fake.requests()) == 1


@pytest.mark.parametrize(
    "fault",
    [{"error_event_after_events": 3}, {"close_after_events": 4}, {"no_terminal_event": True}, {"malformed_after_events": 3}],
    ids=["error event", "cut", "no end", "broken event"],
)
def test_a_stream_that_fails_raises(client, fake, model, fault):
    fake.expect({"event_count": 8, **fault})
    with pytest.raises(anthropic.APIStatusError) as caught:
        with client.messages.stream(model=model, messages=[user("Count.")], max_tokens=200) as stream:
            stream.until_done()
    assert caught.value.body["error"]["code"] == "INFERENCE_UPSTREAM_FAILURE"


def test_many_streams_at_once(key, model):
    async def one(client) -> bool:
        word = f"{world.mark()}end"
        asked = {"model": model, "messages": [user(f"Say {word}.")], "max_tokens": 200}
        async with client.messages.stream(**asked) as stream:
            return word in text_of(await stream.get_final_message())

    async def all_of_them() -> list[bool]:
        async with anthropic.AsyncAnthropic(api_key=key, base_url=world.GATEWAY, timeout=60, max_retries=0) as client:
            return await asyncio.gather(*(one(client) for _ in range(STREAMS)))

    assert all(asyncio.run(all_of_them()))


def test_leaving_a_stream_stops_the_provider(client, fake, model):
    fake.expect(world.STALLING)
    with client.messages.stream(model=model, messages=[user("Count.")], max_tokens=200) as stream:
        for _ in stream.text_stream:
            break
    [request] = fake.requests(ended=1)
    assert request["closed_by_peer_at_us"] and not request["finished"]
