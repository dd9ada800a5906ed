"""The official OpenAI SDK against the chat-completions surface, for both provider kinds."""

import asyncio
import json
from datetime import date

import openai
import pytest
from pydantic import BaseModel, Field

import wire
import world

BASE = f"{world.GATEWAY}/v1"
TOOL = {
    "type": "function",
    "function": {"name": "weather", "description": "The weather.", "parameters": world.WEATHER_SCHEMA},
}
# More than any pool or connection limit is by default.
STREAMS = 200


REFUSAL = "I am sorry, I cannot help with that."
COUNTS = {"prompt_tokens": 5, "completion_tokens": 5, "total_tokens": 10}


class Rating(BaseModel):
    score: int = Field(ge=1, le=10)
    tags: list[str] = Field(min_length=1, max_length=3)
    note: str | None = Field(max_length=280)


class Weather(BaseModel):
    city: str
    degrees: int


class User(BaseModel):
    user_id: str
    username: str | None = Field(description="Login, title or handle.")
    last_name: str
    city: str


class Visit(BaseModel):
    on: date
    mail: str = Field(json_schema_extra={"format": "email"})


@pytest.fixture
def client(key):
    with openai.OpenAI(api_key=key, base_url=BASE, timeout=world.TIMEOUT_S, max_retries=0) as client:
        yield client


def user(text: str) -> dict:
    return {"role": "user", "content": text}


def test_plain(client, fake, model):
    word = world.mark()
    reply = client.chat.completions.create(model=model, messages=[user(f"Say {word}.")], max_tokens=200)
    choice = reply.choices[0]
    assert (reply.object, reply.model) == ("chat.completion", model)
    assert (choice.finish_reason, choice.message.role) == ("stop", "assistant")
    assert word in choice.message.content
    assert reply.usage.prompt_tokens > 0 and reply.usage.completion_tokens > 0
    assert reply.usage.total_tokens == reply.usage.prompt_tokens + reply.usage.completion_tokens
    assert reply._request_id.startswith("req_")
    assert len(fake.bodies()) == 1


def test_several_turns_reach_the_provider_in_order(client, fake, model):
    words = [world.mark() for _ in range(4)]
    messages = [
        {"role": "system", "content": f"Be brief, {words[0]}."},
        user(f"First {words[1]}."),
        {"role": "assistant", "content": f"Second {words[2]}."},
        user(f"Third {words[3]}."),
    ]
    reply = client.chat.completions.create(model=model, messages=messages)
    assert words[3] in reply.choices[0].message.content
    [body] = fake.bodies()
    sent = json.dumps(body.get("system", "")) + json.dumps(body["messages"])
    places = [sent.index(word) for word in words]
    assert places == sorted(places)


@pytest.mark.parametrize("cities", [("Oslo",), ("Oslo", "Rome", "Lima")])
def test_tools_and_their_results(client, fake, model, cities):
    fake.expect(world.tool_behaviour(*cities))
    messages = [user("What is the weather?")]
    reply = client.chat.completions.create(model=model, messages=messages, tools=[TOOL])
    choice = reply.choices[0]
    assert (choice.finish_reason, choice.message.content) == ("tool_calls", None)
    calls = choice.message.tool_calls
    assert [json.loads(call.function.arguments)["city"] for call in calls] == list(cities)
    assert len({call.id for call in calls}) == len(cities)
    messages.append(choice.message)
    for call in calls:
        answer = world.weather(json.loads(call.function.arguments)["city"])
        messages.append({"role": "tool", "tool_call_id": call.id, "content": answer})
    last = client.chat.completions.create(model=model, messages=messages, tools=[TOOL])
    assert last.choices[0].finish_reason == "stop"
    assert all(world.weather(city) in last.choices[0].message.content for city in cities)


def test_stream(client, model):
    word = world.mark()
    with client.chat.completions.create(model=model, messages=[user(f"Say {word}.")], stream=True) as stream:
        chunks = list(stream)
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert word in text
    assert chunks[0].choices[0].delta.role == "assistant"
    assert [c.choices[0].finish_reason for c in chunks if c.choices and c.choices[0].finish_reason] == ["stop"]
    assert not chunks[-1].choices and chunks[-1].usage.completion_tokens > 0
    assert len({chunk.id for chunk in chunks}) == 1


@pytest.mark.parametrize("cities", [("Oslo",), ("Oslo", "Rome")])
def test_stream_helper_with_tools(client, fake, model, cities):
    fake.expect(world.tool_behaviour(*cities))
    messages = [user("What is the weather?")]
    with client.chat.completions.stream(model=model, messages=messages, tools=[TOOL]) as stream:
        for _ in stream:
            pass
        reply = stream.get_final_completion()
    choice = reply.choices[0]
    assert choice.finish_reason == "tool_calls"
    arguments = [json.loads(call.function.arguments) for call in choice.message.tool_calls]
    assert arguments == [{"city": city} for city in cities]


def test_image(client, fake, model):
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{world.PIXEL_PNG}"}}
    parts = [{"type": "text", "text": "What is this?"}, picture]
    reply = client.chat.completions.create(model=model, messages=[{"role": "user", "content": parts}])
    assert reply.choices[0].message.content
    [body] = fake.bodies()
    assert world.PIXEL_PNG in json.dumps(body)


def test_document(client, fake, model):
    page = {"type": "file", "file": {"filename": "page.pdf", "file_data": f"data:application/pdf;base64,{world.PAGE_PDF}"}}
    parts = [{"type": "text", "text": "What is this?"}, page]
    reply = client.chat.completions.create(model=model, messages=[{"role": "user", "content": parts}])
    assert reply.choices[0].message.content
    [body] = fake.bodies()
    assert world.PAGE_PDF in json.dumps(body) and "page.pdf" in json.dumps(body)


def test_structured_output(client, model):
    reply = client.chat.completions.parse(model=model, messages=[user("Weather?")], response_format=Weather)
    parsed = reply.choices[0].message.parsed
    assert isinstance(parsed, Weather) and parsed.city


def test_structured_output_within_bounds(client, fake, model):
    """Kind A has no words for bounds: they go out in the description, and the SDK checks them."""
    fake.expect({"text": '{"score": 7, "tags": ["a", "b"], "note": null}'})
    reply = client.chat.completions.parse(model=model, messages=[user("Rate it.")], response_format=Rating)
    assert reply.choices[0].message.parsed == Rating(score=7, tags=["a", "b"], note=None)
    # Of the SDK's own making, and not strict.
    plain = {"type": "json_schema", "json_schema": {"name": "rating", "schema": Rating.model_json_schema()}}
    text = client.chat.completions.create(model=model, messages=[user("Rate it.")], response_format=plain)
    assert {"score", "tags"} <= set(json.loads(text.choices[0].message.content))


def test_fields_may_be_called_after_people(client, fake, model):
    """The title of a field is nobody's name, and a list of columns nobody's either."""
    word = world.mark()
    asked = f"{word}: what is the title of this book, and what are its properties?"
    said = {"user_id": "title", "username": None, "last_name": "properties", "city": "type"}
    fake.expect({"text": json.dumps(said)})
    tool = openai.pydantic_function_tool(User, name="get_user")
    reply = client.chat.completions.parse(model=model, messages=[user(asked)], response_format=User, tools=[tool])
    assert reply.choices[0].message.parsed.username is None
    [body] = fake.bodies()
    sent = json.dumps(body)
    assert asked in sent and "_1]" not in sent
    columns = {"columns": ["id", "username", "created_at"], "user": {"locale": "en"}}
    fake.expect({"tools": [{"name": "query", "input": columns}]})
    function = {"name": "query", "parameters": {"type": "object"}}
    tools = [{"type": "function", "function": function}]
    reply = client.chat.completions.create(model=model, messages=[user("Go.")], tools=tools)
    assert json.loads(reply.choices[0].message.tool_calls[0].function.arguments) == columns


def test_replaced_values_come_back_in_their_form(client, fake, model):
    """A model that is held to the form of a date could not say its placeholder."""
    fake.expect({"text": '{"on": "[DATE_1]", "mail": "[EMAIL_1]"}'})
    asked = "ruth.aldana@lakeside-mail.org came on 2026-03-04."
    reply = client.chat.completions.parse(model=model, messages=[user(asked)], response_format=Visit)
    assert reply.choices[0].message.parsed == Visit(on=date(2026, 3, 4), mail="ruth.aldana@lakeside-mail.org")
    [body] = fake.bodies()
    assert '"format": "date"' not in json.dumps(body) and '"format": "email"' not in json.dumps(body)


def test_another_agent_may_have_the_last_word(client, fake):
    turns = [user("Draft a line."), {"role": "assistant", "content": "Here it is."}]
    reply = client.chat.completions.create(model=world.MODELS[1], messages=turns)
    assert reply.choices[0].message.content
    [body] = fake.bodies()
    assert body["messages"][-1] == turns[-1]
    with pytest.raises(openai.BadRequestError) as refused:
        client.chat.completions.create(model=world.MODELS[0], messages=turns)
    assert (refused.value.code, refused.value.param) == ("unsupported_parameter", "messages[1]")


def test_tools_without_arguments(client, fake, model):
    """Kind B wants properties in every object, and items in every array."""
    functions = [
        {"name": "now"},
        {"name": "today", "parameters": {}},
        {"name": "later", "parameters": {"type": "object"}},
        {"name": "sort", "parameters": {"type": "object", "properties": {"all": {"type": "array"}}}},
    ]
    tools = [{"type": "function", "function": function} for function in functions]
    reply = client.chat.completions.create(model=model, messages=[user("What time is it?")], tools=tools)
    assert reply.choices[0].message.content
    assert len(fake.bodies()) == 1


def test_a_refusal_is_one_in_its_own_place(client, fake):
    """As kind B's own endpoint says it, to callers that read it as an answer and to those that look for it."""
    declined = {"role": "assistant", "content": None, "refusal": REFUSAL}
    choice = {"index": 0, "message": declined, "finish_reason": "stop"}
    whole = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": COUNTS}
    fake.expect(*[{"raw_body": json.dumps(whole), "content_type": "application/json"}] * 2)
    asked = {"model": world.MODELS[1], "messages": [user("Do it.")]}
    message = client.chat.completions.parse(**asked, response_format=Weather).choices[0].message
    assert (message.refusal, message.content, message.parsed) == (REFUSAL, REFUSAL, None)
    reply = client.chat.completions.create(**asked).choices[0]
    assert (reply.finish_reason, reply.message.content) == ("stop", REFUSAL)
    asked["messages"] += [reply.message, user("Why?")]
    assert client.chat.completions.create(**asked).choices[0].message.content
    [*_, body] = fake.bodies()
    assert json.dumps(body).count(REFUSAL) == 1


def test_a_streamed_refusal_is_one_in_its_own_place(client, fake):
    pieces = [wire.delta(refusal=piece) for piece in (REFUSAL[:6], REFUSAL[6:])]
    fake.expect(wire.beta_stream(wire.delta(role="assistant", refusal=""), *pieces, wire.delta("stop")))
    events = []
    with client.chat.completions.stream(
        model=world.MODELS[1], messages=[user("Do it.")], response_format=Weather
    ) as stream:
        events.extend(event.type for event in stream)
        message = stream.get_final_completion().choices[0].message
    assert {"refusal.delta", "refusal.done"} <= set(events)
    assert (message.refusal, message.parsed) == (REFUSAL, None)


def test_models(client):
    listed = {entry.id for entry in client.models.list()}
    assert set(world.MODELS) <= listed
    assert client.models.retrieve(world.MODELS[0]).id == world.MODELS[0]


def test_patient_data_is_replaced(client, fake, model):
    word = world.mark()
    text = f"{word}: my SSN is {world.SSN}, call me at {world.PHONE}."
    reply = client.chat.completions.create(model=model, messages=[user(text)])
    assert reply.choices[0].message.content
    [body] = fake.bodies()
    sent = json.dumps(body)
    assert word in sent and "[SSN_1]" in sent and "[PHONE_1]" in sent
    assert world.SSN not in sent and world.PHONE not in sent


def refused(key: str, model: str, text: str = "Hello.", base: str = BASE, **more) -> openai.APIStatusError:
    """The error of a call that must fail."""
    with openai.OpenAI(api_key=key, base_url=base, timeout=world.TIMEOUT_S, max_retries=0) as client:
        with pytest.raises(openai.APIStatusError) as caught:
            client.chat.completions.create(model=model, messages=[user(text)], **more)
    error = caught.value
    assert error.request_id and error.request_id.startswith("req_")
    return error


def test_refusals_raise_the_right_class(key, model):
    blocking = world.organization("--phi-mode", "block")
    unscoped = world.organization("--scopes", "control:read")
    cases = [
        (refused("svc_api_live_unknown", model), openai.AuthenticationError, 401, "invalid_api_key"),
        (refused(world.organization("--no-baa"), model), openai.PermissionDeniedError, 403, "baa_required"),
        (refused(world.organization("--credits", "0"), model), openai.PermissionDeniedError, 403, "consumption_blocked"),
        (refused(unscoped, model), openai.PermissionDeniedError, 403, "missing_scope"),
        (refused(blocking, model, f"SSN {world.SSN}"), openai.BadRequestError, 400, "phi_blocked"),
        (refused(key, "no-such-model"), openai.BadRequestError, 400, "model_access_denied"),
        (refused(key, world.RETIRED_MODEL), openai.BadRequestError, 400, "model_retired"),
        (refused(key, model, "a" * world.TOO_LONG_CHARS), openai.BadRequestError, 400, "payload_too_large"),
        (refused(key, model, temperature=7), openai.BadRequestError, 400, "validation_failed"),
        (refused(key, model, logprobs=True), openai.BadRequestError, 400, "unsupported_parameter"),
    ]
    for error, kind, status, code in cases:
        assert (type(error), error.status_code, error.code) == (kind, status, code), error
        assert error.body["svc_code"] == code.upper()
        assert world.SSN not in str(error)


def test_what_is_not_there_is_not_found(client, model):
    with pytest.raises(openai.NotFoundError):
        client.responses.create(model=model, input="Hello.")
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("no-such-model")


def test_a_rate_limit_says_how_long_to_wait(model):
    limited = world.organization("--per-minute", "1")
    with openai.OpenAI(api_key=limited, base_url=BASE, max_retries=0) as client:
        client.chat.completions.create(model=model, messages=[user("Hello.")])
    error = refused(limited, model)
    assert (type(error), error.code) == (openai.RateLimitError, "rate_limited")
    assert 1 <= int(error.response.headers["retry-after"]) <= 60


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 529])
def test_a_failing_provider_is_a_server_error(key, fake, model, status):
    word = world.mark()
    fake.expect({"status": status, "error_message": f"secret words {word}"})
    error = refused(key, model)
    assert (type(error), error.status_code) == (openai.InternalServerError, 500)
    assert error.code == "inference_upstream_failure"
    assert word not in str(error) and word not in error.response.text


def test_a_gateway_without_its_detector_is_unavailable(model):
    error = refused(world.organization_of_broken_gateway(), model, base=f"{world.BROKEN_GATEWAY}/v1")
    assert (type(error), error.status_code) == (openai.InternalServerError, 503)
    assert error.code == "inference_unavailable"


def test_a_retry_waits_as_long_as_it_is_told(key, fake, model):
    fake.expect({"status": 529, "retry_after": "2"})
    with openai.OpenAI(api_key=key, base_url=BASE, timeout=world.TIMEOUT_S, max_retries=2) as client:
        reply = client.chat.completions.create(model=model, messages=[user("Hello.")])
    assert reply.choices[0].finish_reason == "stop"
    first, second = (request["received_at_us"] for request in fake.requests())
    # The SDK's own pause is half a second.
    assert 1.9 <= (second - first) / 1e6


def test_what_a_provider_rejects_is_not_repeated(key, fake, model):
    fake.expect({"status": 400})
    with openai.OpenAI(api_key=key, base_url=BASE, timeout=world.TIMEOUT_S, max_retries=2) as client:
        with pytest.raises(openai.InternalServerError) as caught:
            client.chat.completions.create(model=model, messages=[user("Hello.")])
    assert caught.value.response.headers["x-should-retry"] == "false"
    assert len(fake.requests()) == 1


@pytest.mark.parametrize(
    "fault",
    [{"error_event_after_events": 3}, {"close_after_events": 4}, {"no_terminal_event": True}, {"malformed_after_events": 3}],
    ids=["error event", "cut", "no end", "broken event"],
)
def test_a_stream_that_fails_raises(client, fake, model, fault):
    fake.expect({"event_count": 8, **fault})
    with pytest.raises(openai.APIError) as caught:
        with client.chat.completions.create(model=model, messages=[user("Count.")], stream=True) as stream:
            list(stream)
    assert caught.value.code == "inference_upstream_failure"


def test_many_streams_at_once(key, model):
    async def one(client) -> bool:
        word = f"{world.mark()}end"
        stream = await client.chat.completions.create(model=model, messages=[user(f"Say {word}.")], stream=True)
        text = ""
        async for chunk in stream:
            if chunk.choices:
                text += chunk.choices[0].delta.content or ""
        return word in text

    async def all_of_them() -> list[bool]:
        async with openai.AsyncOpenAI(api_key=key, base_url=BASE, timeout=60, max_retries=0) as client:
            return await asyncio.gather(*(one(client) for _ in range(STREAMS)))

    assert all(asyncio.run(all_of_them()))


def test_leaving_a_stream_stops_the_provider(client, fake, model):
    fake.expect(world.STALLING)
    stream = client.chat.completions.create(model=model, messages=[user("Count.")], stream=True)
    for chunk in stream:
        if chunk.choices and chunk.choices[0].delta.content:
            break
    stream.close()
    [request] = fake.requests(ended=1)
    assert request["closed_by_peer_at_us"] and not request["finished"]
