"""openai-agents over the chat-completions surface, for both provider kinds."""

import asyncio
import json
from typing import Annotated

import openai
import pytest
from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled
from pydantic import BaseModel, Field

import world

# Traces would go to the vendor.
set_tracing_disabled(True)


class Weather(BaseModel):
    city: str
    degrees: int


@function_tool
def weather(city: str) -> str:
    """The weather in a city."""
    return world.weather(city)


@function_tool
def page(number: Annotated[int, Field(ge=1, le=9)]) -> str:
    """A page of the chart."""
    return f"page {number}"


def agent(key: str, model: str, **more) -> Agent:
    client = openai.AsyncOpenAI(
        api_key=key, base_url=f"{world.GATEWAY}/v1", timeout=world.TIMEOUT_S, max_retries=0
    )
    chat = OpenAIChatCompletionsModel(model=model, openai_client=client)
    return Agent(name="Ward clerk", instructions="Be brief.", model=chat, **more)


def test_plain(key, model):
    word = world.mark()
    result = Runner.run_sync(agent(key, model), f"Say {word}.")
    assert word in result.final_output
    assert result.context_wrapper.usage.input_tokens > 0


def test_several_turns_reach_the_provider_in_order(key, model, fake):
    words = [world.mark() for _ in range(2)]
    clerk = agent(key, model)
    first = Runner.run_sync(clerk, words[0])
    Runner.run_sync(clerk, [*first.to_input_list(), {"role": "user", "content": words[1]}])
    sent = json.dumps(fake.bodies()[1]["messages"])
    assert sent.index(words[0]) < sent.index(words[1])


@pytest.mark.parametrize("cities", [("Oslo",), ("Oslo", "Rome")])
def test_tools_and_their_results(key, model, fake, cities):
    fake.expect(world.tool_behaviour(*cities))
    result = Runner.run_sync(agent(key, model, tools=[weather]), "What is the weather?")
    assert all(world.weather(city) in result.final_output for city in cities)
    assert len(fake.requests()) == 2


def test_a_tool_with_bounds(key, model, fake):
    """The framework makes every tool strict; kind A has no words for bounds there."""
    fake.expect({"tools": [{"name": "page", "input": {"number": 3}}]})
    result = Runner.run_sync(agent(key, model, tools=[page]), "Read on.")
    assert "page 3" in result.final_output
    [tool] = fake.bodies()[0]["tools"]
    schema = tool["input_schema"] if "input_schema" in tool else tool["function"]["parameters"]
    assert "maximum" in json.dumps(schema)


@pytest.mark.parametrize("cities", [(), ("Oslo", "Rome")], ids=["text", "tools"])
def test_stream(key, model, fake, cities):
    word = world.mark()
    if cities:
        fake.expect(world.tool_behaviour(*cities))

    async def run() -> tuple[str, str]:
        result = Runner.run_streamed(agent(key, model, tools=[weather]), f"Say {word}.")
        text = ""
        async for event in result.stream_events():
            if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
                text += event.data.delta
        return text, result.final_output

    text, output = asyncio.run(run())
    assert text == output
    assert all(expected in text for expected in ([world.weather(city) for city in cities] or [word]))


def test_structured_output(key, model):
    result = Runner.run_sync(agent(key, model, output_type=Weather), "Weather?")
    assert isinstance(result.final_output, Weather) and result.final_output.city


def test_patient_data_is_replaced(key, model, fake):
    Runner.run_sync(agent(key, model), f"My SSN is {world.SSN}.")
    assert "[SSN_1]" in json.dumps(fake.bodies()[0])


def test_errors_raise_the_right_class(key, model, fake):
    limited = world.organization("--per-minute", "1")
    Runner.run_sync(agent(limited, model), "Hello.")
    with pytest.raises(openai.AuthenticationError):
        Runner.run_sync(agent("svc_api_live_unknown", model), "Hello.")
    with pytest.raises(openai.RateLimitError):
        Runner.run_sync(agent(limited, model), "Hello.")
    fake.expect({"status": 529})
    with pytest.raises(openai.InternalServerError):
        Runner.run_sync(agent(key, model), "Hello.")
