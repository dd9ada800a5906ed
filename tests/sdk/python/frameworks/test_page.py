"""The examples of docs/sdks.md for the other frameworks."""

import pytest

import page


@pytest.mark.parametrize("name", page.FRAMEWORKS)
def test_example(key, fake, monkeypatch, capsys, name):
    lines = page.answers(name, key, monkeypatch, capsys)
    assert len(lines) == len(fake.requests()) and all(lines), lines
