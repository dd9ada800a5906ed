"""The examples of docs/sdks.md for the SDKs, LangChain and pydantic-ai."""

import re

import anthropic
import openai
import pytest

import page
import world


def test_every_example_is_run_by_a_suite():
    assert list(page.EXAMPLES) == page.SDKS + page.FRAMEWORKS


@pytest.mark.parametrize("name", page.SDKS)
def test_example(key, fake, monkeypatch, capsys, name):
    lines = page.answers(name, key, monkeypatch, capsys)
    assert len(lines) == len(fake.requests()) and all("Good morning" in line for line in lines), lines


def test_the_environment_alone_is_enough(key, monkeypatch):
    lines = re.findall(r"^export (\w+_BASE_URL)=(\S+) (\w+_API_KEY)=\$SVC_API_KEY$", page.PAGE, re.MULTILINE)
    for address_name, address, key_name in lines:
        monkeypatch.setenv(address_name, address.replace(page.ADDRESS, world.GATEWAY))
        monkeypatch.setenv(key_name, key)
    assert len(lines) == 2
    turns = [{"role": "user", "content": "Good morning"}]
    said = anthropic.Anthropic().messages.create(model=world.MODELS[1], max_tokens=100, messages=turns)
    assert "Good morning" in said.content[0].text
    said = openai.OpenAI().chat.completions.create(model=world.MODELS[0], messages=turns)
    assert "Good morning" in said.choices[0].message.content
