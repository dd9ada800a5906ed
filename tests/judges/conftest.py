"""A gateway of the judges' own: kind B is the judge's server behind its ending, kind A the bundled fake provider."""

import importlib.machinery
import importlib.util
import json
import os
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from ending import Ending

REPOSITORY = Path(__file__).resolve().parents[2]
# More requests in a minute than the judges send.
UNLIMITED_PER_MINUTE = "100000"


@dataclass
class Judged:
    """A running gateway, and where the judges find what they need."""

    base_url: str
    fake: str
    # The port that the judge's server must listen on.
    capture_port: int
    key: str


def runner():
    """`tests/sdk/with-gateway` as a module: how gateways are started stands there."""
    path = str(REPOSITORY / "tests" / "sdk" / "with-gateway")
    loader = importlib.machinery.SourceFileLoader("with_gateway", path)
    spec = importlib.util.spec_from_loader("with_gateway", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def judged(tmp_path_factory):
    start = runner()
    folder = tmp_path_factory.mktemp("judges")
    children: list[subprocess.Popen] = []
    public, admin, capture_port = start.free_ports(3)
    ending = Ending(capture_port)
    try:
        fake = start.start_fake(folder, children)
        environment = start.clean() | {
            "ALPHA_BASE_URL": fake,
            "ALPHA_API_KEY": start.PROVIDER_KEY,
            "BETA_BASE_URL": ending.base_url,
            "BETA_API_KEY": start.PROVIDER_KEY,
            "SVC_THREADS": "2",
        }
        place = start.place(folder / "gateway", environment, [public, admin])
        config = start.configure(folder / "gateway", REPOSITORY / "policies", start.PLUGINS)
        start.start_gateway(folder / "gateway", place, config, 200, children)
        yield Judged(place["SVC_BASE_URL"], fake, capture_port, organization(start, place, config))
    finally:
        for child in reversed(children):
            child.kill()
            child.wait()
        ending.close()


def organization(start, place: dict[str, str], config: Path) -> str:
    """The key of an organization that may ask as often as it likes."""
    command = [str(start.PROGRAM), "admin", "bootstrap", "--json", "--config", str(config)]
    command += ["--per-minute", UNLIMITED_PER_MINUTE]
    printed = subprocess.run(command, env=place, check=True, capture_output=True, text=True).stdout
    return json.loads(printed)["api_key"]
