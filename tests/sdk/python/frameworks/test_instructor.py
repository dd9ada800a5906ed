"""instructor over both surfaces, for both provider kinds."""

import json

import anthropic
import instructor
import openai
import pytest
from pydantic import BaseModel

import world


class Weather(BaseModel):
    """The weather in a city."""

    city: str
    degrees: int


def chat_completions(key: str, mode: instructor.Mode) -> instructor.Instructor:
    client = openai.OpenAI(api_key=key, base_url=f"{world.GATEWAY}/v1", timeout=world.TIMEOUT_S, max_retries=0)
    return instructor.from_openai(client, mode=mode)


def messages(key: str, mode: instructor.Mode) -> instructor.Instructor:
    client = anthropic.Anthropic(api_key=key, base_url=world.GATEWAY, timeout=world.TIMEOUT_S, max_retries=0)
    return instructor.from_anthropic(client, mode=mode)


WAYS = [
    (chat_completions, instructor.Mode.TOOLS),
    (chat_completions, instructor.Mode.JSON_SCHEMA),
    (messages, instructor.Mode.TOOLS),
]


@pytest.fixture(params=WAYS, ids=lambda way: f"{way[0].__name__} {way[1].name}")
def connect(request):
    surface, mode = request.param
    return lambda key: surface(key, mode)


def asked(model: str, text: str = "Weather?") -> dict:
    return {"model": model, "messages": [{"role": "user", "content": text}], "max_tokens": 300}


def test_structured_output(connect, key, model):
    parsed = connect(key).create(response_model=Weather, max_retries=0, **asked(model))
    assert isinstance(parsed, Weather) and parsed.city


def test_stream(connect, key, model):
    *_, last = connect(key).create_partial(response_model=Weather, max_retries=0, **asked(model))
    assert last.city and last.degrees is not None


def test_an_answer_that_does_not_fit_is_asked_for_again(connect, key, model, fake):
    wrong = {"name": "Weather", "input": {"city": "Oslo", "degrees": "warm"}}
    fake.expect({"text": json.dumps(wrong["input"])} if "JSON" in str(connect(key).mode) else {"tools": [wrong]})
    parsed = connect(key).create(response_model=Weather, max_retries=2, **asked(model))
    assert isinstance(parsed, Weather) and len(fake.requests()) == 2


def test_patient_data_is_replaced(connect, key, model, fake):
    connect(key).create(response_model=Weather, max_retries=0, **asked(model, f"My SSN is {world.SSN}."))
    assert "[SSN_1]" in json.dumps(fake.bodies()[0])


def test_errors_keep_their_class(connect, key, model, fake):
    def cause(key: str) -> BaseException:
        with pytest.raises(Exception) as caught:
            connect(key).create(response_model=Weather, max_retries=0, **asked(model))
        # The SDK's own error, wrapped or not.
        found = caught.value
        while not isinstance(found, (openai.APIError, anthropic.APIError)) and found.__cause__ is not None:
            found = found.__cause__
        return found

    assert isinstance(cause("svc_api_live_unknown"), (openai.AuthenticationError, anthropic.AuthenticationError))
    fake.expect({"status": 529})
    assert isinstance(cause(key), (openai.InternalServerError, anthropic.InternalServerError))
