"""litellm over both surfaces, for both provider kinds."""

import json
import os

# Prices come with the package; no test may ask the network for newer ones.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm
import pytest
from pydantic import BaseModel

import world

litellm.telemetry = False
TOOL = {"type": "function", "function": {"name": "weather", "parameters": world.WEATHER_SCHEMA}}


class Weather(BaseModel):
    city: str
    degrees: int


def chat_completions(key: str, model: str) -> dict:
    return {"model": f"openai/{model}", "api_base": f"{world.GATEWAY}/v1", "api_key": key}


def messages(key: str, model: str) -> dict:
    return {"model": f"anthropic/{model}", "api_base": world.GATEWAY, "api_key": key}


@pytest.fixture(params=[chat_completions, messages], ids=["chat completions", "messages"])
def connect(request):
    return request.param


@pytest.fixture
def complete(connect, key, model):
    def complete(content, **more):
        turns = [{"role": "user", "content": content}] if isinstance(content, str) else content
        return call(connect(key, model), turns, **more)

    return complete


def call(to: dict, turns: list, **more):
    return litellm.completion(messages=turns, timeout=world.TIMEOUT_S, **({"max_retries": 0} | to | more))


def test_plain(complete):
    word = world.mark()
    reply = complete(f"Say {word}.")
    assert word in reply.choices[0].message.content and reply.choices[0].finish_reason == "stop"
    assert reply.usage.prompt_tokens > 0 and reply.usage.completion_tokens > 0


def test_several_turns_reach_the_provider_in_order(complete, fake):
    words = [world.mark() for _ in range(4)]
    roles = ["system", "user", "assistant", "user"]
    complete([{"role": role, "content": word} for role, word in zip(roles, words)])
    [body] = fake.bodies()
    sent = json.dumps(body.get("system", "")) + json.dumps(body["messages"])
    places = [sent.index(word) for word in words]
    assert places == sorted(places)


def test_stream(complete):
    word = world.mark()
    chunks = list(complete(f"Say {word}.", stream=True, stream_options={"include_usage": True}))
    assert word in "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert litellm.stream_chunk_builder(chunks).usage.completion_tokens > 0


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("cities", [("Oslo",), ("Oslo", "Rome")])
def test_tools_and_their_results(complete, fake, cities, stream):
    fake.expect(world.tool_behaviour(*cities))
    turns = [{"role": "user", "content": "What is the weather?"}]
    reply = complete(turns, tools=[TOOL], stream=stream)
    if stream:
        reply = litellm.stream_chunk_builder(list(reply), messages=turns)
    calls = reply.choices[0].message.tool_calls
    assert [json.loads(call.function.arguments)["city"] for call in calls] == list(cities)
    turns.append(reply.choices[0].message.model_dump())
    for made, city in zip(calls, cities):
        turns.append({"role": "tool", "tool_call_id": made.id, "content": world.weather(city)})
    last = complete(turns, tools=[TOOL])
    assert all(world.weather(city) in last.choices[0].message.content for city in cities)


def test_image(complete, fake):
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{world.PIXEL_PNG}"}}
    complete([{"role": "user", "content": [{"type": "text", "text": "What is this?"}, picture]}])
    assert world.PIXEL_PNG in json.dumps(fake.bodies()[0])


def test_structured_output(complete):
    reply = complete("Weather?", response_format=Weather)
    assert Weather.model_validate_json(reply.choices[0].message.content).city


def test_patient_data_is_replaced(complete, fake):
    complete(f"My SSN is {world.SSN}.")
    assert "[SSN_1]" in json.dumps(fake.bodies()[0])


def test_errors_raise_the_right_class(connect, key, model, fake):
    def failure(key: str, text: str = "Hello."):
        with pytest.raises(Exception) as caught:
            call(connect(key, model), [{"role": "user", "content": text}])
        return caught.value

    limited = world.organization("--per-minute", "1")
    call(connect(limited, model), [{"role": "user", "content": "Hello."}])
    assert isinstance(failure("svc_api_live_unknown"), litellm.AuthenticationError)
    assert isinstance(failure(limited), litellm.RateLimitError)
    blocked = failure(world.organization("--phi-mode", "block"), f"SSN {world.SSN}")
    assert blocked.status_code == (400 if connect is chat_completions else 403), blocked
    fake.expect({"status": 529})
    failed = failure(key)
    assert failed.status_code >= 500 and isinstance(failed, (litellm.InternalServerError, litellm.BadGatewayError)), failed


def test_a_stream_that_fails_raises(complete, fake):
    fake.expect({"event_count": 8, "close_after_events": 5})
    with pytest.raises((litellm.APIError, litellm.exceptions.MidStreamFallbackError)):
        list(complete("Count.", stream=True))
