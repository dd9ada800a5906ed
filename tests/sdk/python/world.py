"""The fake provider's control side, fresh organizations, and what the suites of every SDK share.

Tests run one after the other: the fake's script and journal belong to the test that runs.
"""

import base64
import itertools
import json
import os
import subprocess

import httpx

GATEWAY = os.environ["SDK_GATEWAY"]
BROKEN_GATEWAY = os.environ["SDK_BROKEN_GATEWAY"]
FAKE = os.environ["SDK_FAKE"]
PROGRAM = os.environ["SDK_PROGRAM"]

# One model of each provider kind, both with sampling, tools and images.
MODELS = ["alpha-sonnet-4-6", "beta-5.4"]
# A model that nobody serves any more.
RETIRED_MODEL = "alpha-retired"
# Seconds for any single call; the fake answers at once, a busy machine does not.
TIMEOUT_S = 30.0
# More requests in a minute than the suites send.
UNLIMITED_PER_MINUTE = "100000"
# A reply that stops in the middle. Its words can be nobody's, so that none is held back to be judged.
STALLING = {"text_chunks": ["well, "] * 12, "stall_after_events": 9}
# Content of a patient that no provider may ever see.
SSN = "536-22-8714"
PHONE = "(415) 823-4467"
# A picture of one pixel.
PIXEL_PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
# A document of one empty page.
PAGE_PDF = base64.b64encode(
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"
).decode()
# More than the 32 MiB that the inference surfaces read.
TOO_LONG_CHARS = 33 * 1024 * 1024
WEATHER_SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}

_marks = itertools.count()


def mark() -> str:
    """A word that no other test says. Letters only, so that no detector takes it for anything."""
    number, letters = next(_marks), ""
    for _ in range(4):
        letters += chr(ord("a") + number % 26)
        number //= 26
    return f"quokka{letters}"


class Fake:
    """The fake provider: it is told what goes wrong, and asked what it received."""

    def __init__(self) -> None:
        self.http = httpx.Client(base_url=FAKE, timeout=TIMEOUT_S)

    def expect(self, *behaviours: dict) -> None:
        """What the coming requests get, one behaviour each; the others get an ordinary answer."""
        answer = self.http.post("/_control/script", json={"behaviours": list(behaviours)})
        answer.raise_for_status()

    def clear(self) -> None:
        self.http.delete("/_control/script").raise_for_status()
        self.http.delete("/_control/requests").raise_for_status()

    def waiting(self) -> int:
        """How many behaviours nobody has asked for."""
        return self.http.get("/_control/script").raise_for_status().json()["waiting"]

    def requests(self, ended: int = 0) -> list[dict]:
        """Every request of this test, once so many of them have ended."""
        answer = self.http.get("/_control/requests", params={"await_ended": ended})
        assert answer.status_code == 200, "the provider did not see the end of the requests"
        return answer.json()["requests"]

    def bodies(self) -> list[dict]:
        return [request["body"] for request in self.requests()]


def organization(*options: str) -> str:
    """The key of a fresh organization; `options` as `admin bootstrap` takes them."""
    return _bootstrap(os.environ, os.environ["SDK_CONFIG"], options)


def organization_of_broken_gateway() -> str:
    """A key at the gateway whose detector is missing."""
    environment = os.environ | {"SVC_DATA_DIR": os.environ["SDK_BROKEN_DATA"]}
    return _bootstrap(environment, os.environ["SDK_BROKEN_CONFIG"], ())


def _bootstrap(environment, config: str, options) -> str:
    if "--per-minute" not in options:
        options = (*options, "--per-minute", UNLIMITED_PER_MINUTE)
    command = [PROGRAM, "--config", config, "admin", "bootstrap", "--json", *options]
    said = subprocess.run(command, env=environment, check=True, capture_output=True, timeout=TIMEOUT_S)
    return json.loads(said.stdout)["api_key"]


def weather(city: str) -> str:
    """The weather in a city."""
    return f"sunny in {city}"


def tool_behaviour(*cities: str) -> dict:
    """The model calls the tool `weather` once for each city, all at once."""
    return {"tools": [{"name": "weather", "input": {"city": city}} for city in cities]}
