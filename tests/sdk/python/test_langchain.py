"""LangChain's chat models over both surfaces, for both provider kinds."""

import asyncio
import json

import anthropic
import openai
import pytest
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import BaseModel

import world


class Weather(BaseModel):
    """The weather in a city."""

    city: str
    degrees: int


@tool
def weather(city: str) -> str:
    """The weather in a city."""
    return world.weather(city)


def chat_completions(key: str, model: str, max_retries: int = 0) -> ChatOpenAI:
    return ChatOpenAI(
        model=model,
        api_key=key,
        base_url=f"{world.GATEWAY}/v1",
        max_tokens=200,
        timeout=world.TIMEOUT_S,
        max_retries=max_retries,
    )


def messages(key: str, model: str, max_retries: int = 0) -> ChatAnthropic:
    return ChatAnthropic(
        model=model,
        api_key=key,
        base_url=world.GATEWAY,
        max_tokens=200,
        timeout=world.TIMEOUT_S,
        max_retries=max_retries,
    )


@pytest.fixture(params=[chat_completions, messages], ids=["chat completions", "messages"])
def connect(request):
    return request.param


@pytest.fixture
def chat(connect, key, model):
    return connect(key, model)


def test_plain(chat):
    word = world.mark()
    reply = chat.invoke(f"Say {word}.")
    assert word in reply.text
    assert reply.usage_metadata["input_tokens"] > 0 and reply.usage_metadata["output_tokens"] > 0


def test_several_turns_reach_the_provider_in_order(chat, fake):
    words = [world.mark() for _ in range(4)]
    history = [
        SystemMessage(f"Be brief, {words[0]}."),
        HumanMessage(f"First {words[1]}."),
        AIMessage(f"Second {words[2]}."),
        HumanMessage(f"Third {words[3]}."),
    ]
    assert words[3] in chat.invoke(history).text
    [body] = fake.bodies()
    sent = json.dumps(body.get("system", "")) + json.dumps(body["messages"])
    places = [sent.index(word) for word in words]
    assert places == sorted(places)


@pytest.mark.parametrize("cities", [("Oslo",), ("Oslo", "Rome")])
def test_tools_and_their_results(chat, fake, cities):
    fake.expect(world.tool_behaviour(*cities))
    bound = chat.bind_tools([weather])
    history = [HumanMessage("What is the weather?")]
    reply = bound.invoke(history)
    assert [call["args"]["city"] for call in reply.tool_calls] == list(cities)
    history.append(reply)
    for call in reply.tool_calls:
        answer = weather.invoke(call)
        assert isinstance(answer, ToolMessage)
        history.append(answer)
    last = bound.invoke(history)
    assert not last.tool_calls
    assert all(world.weather(city) in last.text for city in cities)


@pytest.mark.parametrize("cities", [(), ("Oslo", "Rome")], ids=["text", "tools"])
def test_stream(chat, fake, cities):
    word = world.mark()
    fake.expect({"text": f"I say {word}.", **world.tool_behaviour(*cities)})
    whole = None
    for chunk in chat.bind_tools([weather]).stream("Go on."):
        whole = chunk if whole is None else whole + chunk
    assert word in whole.text
    assert [call["args"]["city"] for call in whole.tool_calls] == list(cities)
    assert whole.usage_metadata["input_tokens"] > 0 and whole.usage_metadata["output_tokens"] > 0


def test_image(chat, fake):
    picture = {"type": "image", "base64": world.PIXEL_PNG, "mime_type": "image/png"}
    assert chat.invoke([HumanMessage([{"type": "text", "text": "What is this?"}, picture])]).text
    [body] = fake.bodies()
    assert world.PIXEL_PNG in json.dumps(body)


def test_document(chat, fake):
    page = {"type": "file", "base64": world.PAGE_PDF, "mime_type": "application/pdf", "filename": "page.pdf"}
    assert chat.invoke([HumanMessage([{"type": "text", "text": "What is this?"}, page])]).text
    [body] = fake.bodies()
    assert world.PAGE_PDF in json.dumps(body)


def test_structured_output(chat):
    parsed = chat.with_structured_output(Weather).invoke("Weather?")
    assert isinstance(parsed, Weather) and parsed.city


def test_patient_data_is_replaced(chat, fake):
    assert chat.invoke(f"My SSN is {world.SSN}.").text
    [body] = fake.bodies()
    assert "[SSN_1]" in json.dumps(body)


def test_errors_raise_the_right_class(connect, model):
    with pytest.raises((openai.AuthenticationError, anthropic.AuthenticationError)):
        connect("svc_api_live_unknown", model).invoke("Hello.")
    limited = world.organization("--per-minute", "1")
    connect(limited, model).invoke("Hello.")
    with pytest.raises((openai.RateLimitError, anthropic.RateLimitError)):
        connect(limited, model).invoke("Hello.")


def test_tokens_are_counted(key, model, fake):
    counted = messages(key, model).get_num_tokens_from_messages([HumanMessage(f"Say {world.mark()} to {world.SSN}.")])
    assert counted > 0
    paths = [request["path"] for request in fake.requests()]
    assert paths == (["/v1/messages/count_tokens"] if model == world.MODELS[0] else [])


def test_a_retry_succeeds(connect, key, model, fake):
    fake.expect({"status": 500})
    assert connect(key, model, max_retries=2).invoke("Hello.").text
    assert len(fake.requests()) == 2


def test_a_stream_that_fails_raises(chat, fake):
    fake.expect({"event_count": 8, "close_after_events": 5})
    with pytest.raises((openai.APIError, anthropic.APIError)):
        list(chat.stream("Count."))


def test_leaving_a_stream_stops_the_provider(chat, fake):
    fake.expect(world.STALLING)

    async def leave() -> None:
        stream = chat.astream("Count.")
        async for chunk in stream:
            if chunk.text:
                break
        await stream.aclose()

    asyncio.run(leave())
    [request] = fake.requests(ended=1)
    assert request["closed_by_peer_at_us"] and not request["finished"]
