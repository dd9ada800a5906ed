"""llama-index over both surfaces, for both provider kinds."""

import json

import anthropic
import openai
import pytest
from llama_index.core.base.llms.types import ChatMessage, ImageBlock, TextBlock
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.tools import FunctionTool
from llama_index.llms.anthropic import Anthropic
from llama_index.llms.openai_like import OpenAILike
from pydantic import BaseModel

import world

WEATHER = FunctionTool.from_defaults(fn=world.weather, name="weather")


class Weather(BaseModel):
    """The weather in a city."""

    city: str
    degrees: int


class KnownAnthropic(Anthropic):
    """It knows its vendor's models by name; of others it must be told what they are."""

    @property
    def metadata(self):
        real = self.model
        try:
            self.model = "claude-sonnet-4-5"
            return super().metadata
        finally:
            self.model = real


def chat_completions(key: str, model: str) -> FunctionCallingLLM:
    return OpenAILike(
        model=model,
        api_base=f"{world.GATEWAY}/v1",
        api_key=key,
        is_chat_model=True,
        is_function_calling_model=True,
        max_retries=0,
        timeout=world.TIMEOUT_S,
    )


def messages(key: str, model: str) -> FunctionCallingLLM:
    return KnownAnthropic(
        model=model, base_url=world.GATEWAY, api_key=key, max_retries=0, timeout=world.TIMEOUT_S, max_tokens=300
    )


@pytest.fixture(params=[chat_completions, messages], ids=["chat completions", "messages"])
def connect(request):
    return request.param


@pytest.fixture
def llm(connect, key, model):
    return connect(key, model)


def test_plain(llm):
    word = world.mark()
    assert word in llm.complete(f"Say {word}.").text


def test_several_turns_reach_the_provider_in_order(llm, fake):
    words = [world.mark() for _ in range(4)]
    roles = ["system", "user", "assistant", "user"]
    llm.chat([ChatMessage(role=role, content=word) for role, word in zip(roles, words)])
    [body] = fake.bodies()
    sent = json.dumps(body.get("system", "")) + json.dumps(body["messages"])
    places = [sent.index(word) for word in words]
    assert places == sorted(places)


def test_stream(llm):
    word = world.mark()
    pieces = [piece.delta or "" for piece in llm.stream_chat([ChatMessage(role="user", content=f"Say {word}.")])]
    assert word in "".join(pieces)


@pytest.mark.parametrize("cities", [("Oslo",), ("Oslo", "Rome")])
def test_tools_and_their_results(llm, fake, cities):
    fake.expect(world.tool_behaviour(*cities))
    history = [ChatMessage(role="user", content="What is the weather?")]
    reply = llm.chat_with_tools([WEATHER], chat_history=history, allow_parallel_tool_calls=True)
    calls = llm.get_tool_calls_from_response(reply)
    assert [call.tool_kwargs["city"] for call in calls] == list(cities)
    history.append(reply.message)
    for call in calls:
        answer = WEATHER(**call.tool_kwargs)
        more = {"tool_call_id": call.tool_id, "name": call.tool_name}
        history.append(ChatMessage(role="tool", content=str(answer), additional_kwargs=more))
    last = llm.chat_with_tools([WEATHER], chat_history=history)
    assert all(world.weather(city) in last.message.content for city in cities)


def test_stream_with_tools(llm, fake):
    fake.expect(world.tool_behaviour("Oslo", "Rome"))
    *_, last = llm.stream_chat_with_tools([WEATHER], user_msg="What is the weather?", allow_parallel_tool_calls=True)
    assert [call.tool_kwargs["city"] for call in llm.get_tool_calls_from_response(last)] == ["Oslo", "Rome"]


def test_image(llm, fake):
    blocks = [TextBlock(text="What is this?"), ImageBlock(image=world.PIXEL_PNG.encode(), image_mimetype="image/png")]
    llm.chat([ChatMessage(role="user", blocks=blocks)])
    assert world.PIXEL_PNG in json.dumps(fake.bodies()[0])


def test_structured_output(llm, fake):
    # It leaves the choice to the model, on one surface.
    fake.expect({"tools": [{"name": "Weather", "input": {"city": "Oslo", "degrees": 7}}]})
    parsed = llm.as_structured_llm(Weather).complete("Weather?").raw
    assert isinstance(parsed, Weather) and parsed.city


def test_patient_data_is_replaced(llm, fake):
    llm.complete(f"My SSN is {world.SSN}.")
    assert "[SSN_1]" in json.dumps(fake.bodies()[0])


def test_errors_raise_the_right_class(connect, key, model, fake):
    vendor = openai if connect is chat_completions else anthropic
    limited = world.organization("--per-minute", "1")
    connect(limited, model).complete("Hello.")
    with pytest.raises(vendor.AuthenticationError):
        connect("svc_api_live_unknown", model).complete("Hello.")
    with pytest.raises(vendor.RateLimitError):
        connect(limited, model).complete("Hello.")
    fake.expect({"status": 529})
    with pytest.raises(vendor.InternalServerError):
        connect(key, model).complete("Hello.")
