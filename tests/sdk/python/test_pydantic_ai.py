"""pydantic-ai over both surfaces, for both provider kinds."""

import base64
import json

import pytest
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI
from pydantic import BaseModel
from pydantic_ai import Agent, BinaryContent, NativeOutput
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

import world

class Weather(BaseModel):
    """The weather in a city."""

    city: str
    degrees: int


def chat_completions(key: str, model: str, max_retries: int = 0) -> OpenAIChatModel:
    client = AsyncOpenAI(
        api_key=key, base_url=f"{world.GATEWAY}/v1", timeout=world.TIMEOUT_S, max_retries=max_retries
    )
    return OpenAIChatModel(model, provider=OpenAIProvider(openai_client=client))


def messages(key: str, model: str, max_retries: int = 0) -> AnthropicModel:
    client = AsyncAnthropic(
        api_key=key, base_url=world.GATEWAY, timeout=world.TIMEOUT_S, max_retries=max_retries
    )
    # It knows its vendor's models by name; of others it must be told what they can do.
    profile = {"supports_json_schema_output": True}
    return AnthropicModel(model, provider=AnthropicProvider(anthropic_client=client), profile=profile)


@pytest.fixture(params=[chat_completions, messages], ids=["chat completions", "messages"])
def connect(request):
    return request.param


@pytest.fixture
def chat(connect, key, model):
    return connect(key, model)


def test_plain(chat):
    word = world.mark()
    result = Agent(chat, system_prompt="Be brief.").run_sync(f"Say {word}.")
    assert word in result.output
    assert result.usage.input_tokens > 0 and result.usage.output_tokens > 0


def test_several_turns_reach_the_provider_in_order(chat, fake):
    words = [world.mark() for _ in range(3)]
    agent = Agent(chat, system_prompt=f"Be brief, {words[0]}.")
    first = agent.run_sync(f"First {words[1]}.")
    second = agent.run_sync(f"Second {words[2]}.", message_history=first.all_messages())
    assert words[2] in second.output
    body = fake.bodies()[1]
    sent = json.dumps(body.get("system", "")) + json.dumps(body["messages"])
    places = [sent.index(word) for word in words]
    assert places == sorted(places)


@pytest.mark.parametrize("cities", [("Oslo",), ("Oslo", "Rome")])
def test_tools_and_their_results(chat, fake, cities):
    asked = []
    agent = Agent(chat)

    @agent.tool_plain
    def weather(city: str) -> str:
        """The weather in a city."""
        asked.append(city)
        return world.weather(city)

    fake.expect(world.tool_behaviour(*cities))
    result = agent.run_sync("What is the weather?")
    assert sorted(asked) == sorted(cities)
    assert all(world.weather(city) in result.output for city in cities)
    assert len(fake.requests()) == 2


def test_stream(chat):
    word = world.mark()
    result = Agent(chat).run_stream_sync(f"Say {word}.")
    pieces = list(result.stream_text(delta=True))
    assert word in "".join(pieces)


def test_image(chat, fake):
    picture = BinaryContent(data=base64.b64decode(world.PIXEL_PNG), media_type="image/png")
    assert Agent(chat).run_sync(["What is this?", picture]).output
    [body] = fake.bodies()
    assert world.PIXEL_PNG in json.dumps(body)


def test_document(chat, fake):
    page = BinaryContent(data=base64.b64decode(world.PAGE_PDF), media_type="application/pdf")
    assert Agent(chat).run_sync(["What is this?", page]).output
    [body] = fake.bodies()
    assert world.PAGE_PDF in json.dumps(body)


@pytest.mark.parametrize("output", [Weather, NativeOutput(Weather)], ids=["by a tool", "native"])
def test_structured_output(chat, output):
    result = Agent(chat, output_type=output).run_sync("Weather?")
    assert isinstance(result.output, Weather) and result.output.city


def test_patient_data_is_replaced(chat, fake):
    assert Agent(chat).run_sync(f"My SSN is {world.SSN}.").output
    [body] = fake.bodies()
    assert "[SSN_1]" in json.dumps(body)


def test_errors_say_their_status(connect, key, model, fake):
    limited = world.organization("--per-minute", "1")
    Agent(connect(limited, model)).run_sync("Hello.")
    for caller, status in [("svc_api_live_unknown", 401), (limited, 429)]:
        with pytest.raises(ModelHTTPError) as caught:
            Agent(connect(caller, model)).run_sync("Hello.")
        assert caught.value.status_code == status
    fake.expect({"status": 529})
    with pytest.raises(ModelHTTPError) as caught:
        Agent(connect(key, model)).run_sync("Hello.")
    assert caught.value.status_code == (500 if connect is chat_completions else 502)


def test_a_retry_succeeds(connect, key, model, fake):
    fake.expect({"status": 500})
    assert Agent(connect(key, model, max_retries=2)).run_sync("Hello.").output
    assert len(fake.requests()) == 2
