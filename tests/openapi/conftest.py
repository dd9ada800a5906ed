"""A gateway of the document's own, in front of the bundled fake provider."""

import importlib.machinery
import importlib.util
import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
# More requests in a minute than are sent.
UNLIMITED_PER_MINUTE = "1000000"


@dataclass
class Served:
    """A running gateway, and how organizations are made beside it."""

    base_url: str
    place: dict[str, str]
    config: Path

    def organization(self) -> dict[str, str]:
        """A fresh one, with the key of an owner that has every scope."""
        command = [str(runner().PROGRAM), "admin", "bootstrap", "--json", "--config", str(self.config)]
        command += ["--per-minute", UNLIMITED_PER_MINUTE, "--features", "integrations"]
        printed = subprocess.run(command, env=self.place, check=True, capture_output=True, text=True).stdout
        return json.loads(printed)


def runner():
    """`tests/sdk/with-gateway` as a module: how gateways are started stands there."""
    path = str(REPOSITORY / "tests" / "sdk" / "with-gateway")
    loader = importlib.machinery.SourceFileLoader("with_gateway", path)
    spec = importlib.util.spec_from_loader("with_gateway", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def served(tmp_path_factory):
    start = runner()
    folder = tmp_path_factory.mktemp("openapi")
    children: list[subprocess.Popen] = []
    try:
        fake = start.start_fake(folder, children)
        environment = start.clean() | {
            "ALPHA_BASE_URL": fake,
            "ALPHA_API_KEY": start.PROVIDER_KEY,
            "BETA_BASE_URL": fake,
            "BETA_API_KEY": start.PROVIDER_KEY,
            "SVC_THREADS": "2",
        }
        place = start.place(folder / "gateway", environment, start.free_ports(2))
        config = start.configure(folder / "gateway", REPOSITORY / "policies", start.PLUGINS)
        start.start_gateway(folder / "gateway", place, config, 200, children)
        yield Served(place["SVC_BASE_URL"], place, config)
    finally:
        for child in reversed(children):
            child.kill()
            child.wait()
