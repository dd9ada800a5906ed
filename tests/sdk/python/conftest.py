"""What surrounds every test: a clean fake before it, and after it the checks that hold whatever was tested."""

import json

import httpx
import pytest

import world


@pytest.fixture(scope="session")
def key() -> str:
    return world.organization()


@pytest.fixture(params=world.MODELS)
def model(request) -> str:
    return request.param


@pytest.fixture(autouse=True)
def fake(key):
    fake = world.Fake()
    fake.clear()
    yield fake
    requests = fake.requests()
    assert fake.waiting() == 0, "behaviours were ordered and never asked for"
    for request in requests:
        nothing_private(request, key)
    fake.clear()
    if any(request["status"] != 200 or not request["finished"] for request in requests):
        close_circuits(key)
    fake.http.close()


def nothing_private(request: dict, key: str) -> None:
    """Neither content of a patient, nor the caller's key, nor what its SDK says about itself is sent on."""
    sent = json.dumps(request)
    for secret in (world.SSN, world.PHONE, key):
        assert secret not in sent
    names = [name.lower() for name, _ in request["headers"]]
    assert not [name for name in names if name.startswith("x-stainless") or name == "x-api-key"], names


def close_circuits(key: str) -> None:
    """Ordered failures must not add up over tests until the gateway avoids the provider: a success forgets them."""
    for model in world.MODELS:
        body = {"model": model, "messages": [{"role": "user", "content": "Are you well?"}]}
        headers = {"authorization": f"Bearer {key}"}
        url = f"{world.GATEWAY}/v1/chat/completions"
        httpx.post(url, json=body, headers=headers, timeout=world.TIMEOUT_S).raise_for_status()
