"""Judges from outside, who know nothing of how the gateway is built.

`pii-leak-benchmark` asks what a provider gets and what a caller gets back, its v2 profile also what becomes of values
that are new in a reply; `chunk-invariance` whether the cuts of a stream change what comes out of it.
"""

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from chunk_invariance import ChunkInvarianceError, assert_chunk_invariant
from chunk_invariance._check import DEFAULT_SAMPLES

# The judge's server speaks the format of kind B; the fake provider is behind kind A.
MODEL, FAKE_MODEL = "beta-5.4", "alpha-haiku-4-5"
# Seconds for any single call; the servers answer at once, a busy machine does not.
TIMEOUT_S = 60.0
# Seconds for one judge.
JUDGE_TIMEOUT_S = 300.0
# Requests of one selfcheck (its default).
ITERATIONS = 3
# The same cases every time; another seed is another draw of the same corpus.
SEED = "a1b2c3d4e5f60001"
# Cases of one seed at each of its four sites.
CASES_PER_SITE = 8
# What a model might say, with a value of every kind that has a form of its own.
OWN_SAMPLES = (
    "Call (415) 823-4467 or write to ruth.aldana@lakeside-mail.org before March 14, 1987, please.",
    "MRN: 84731962, SSN 536-22-8714, card 4539 1488 0343 6467, seen with Mrs. Helen Kelenberg.",
    "Take metformin 500 mg twice a day; BP 120/80, pain 7/10, strength 5/5.",
)


def judge(judged, *command: str) -> subprocess.CompletedProcess:
    """Runs a judge. The key is in its environment, which is not for everybody to read."""
    environment = {"PATH": os.environ["PATH"], "CONFORMANCE_TARGET_API_KEY": judged.key}
    program = Path(sys.executable).parent / command[0]
    command = [str(program), *command[1:]]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=JUDGE_TIMEOUT_S)


def selfcheck(judged, target: str, report: Path) -> subprocess.CompletedProcess:
    command = ["pii-leak-benchmark", "selfcheck", "--target-base-url", target, "--target-model", MODEL]
    command += ["--capture-port", str(judged.capture_port), "--iterations", str(ITERATIONS)]
    # Secrets of machines are no kind of ours.
    command += ["--no-credentials", "--profile", "pii-v1", "--json-out", str(report)]
    return judge(judged, *command)


def test_no_value_reaches_the_provider_and_every_one_comes_back(judged, tmp_path):
    done = selfcheck(judged, f"{judged.base_url}/v1", tmp_path / "report.json")
    checks = json.loads((tmp_path / "report.json").read_text())["checks"]
    boundary = checks["configured_upstream_boundary"]
    assert boundary["correlated_requests"] == ITERATIONS, done.stdout
    assert boundary["leaked_entity_types"] == [] and boundary["uninspectable_requests"] == 0, done.stdout
    assert checks["response_fidelity"]["iterations_matching"] == ITERATIONS, done.stdout
    failed = [name for name, check in checks.items() if not check["passed"]]
    # The judge knows no chunk without choices. Ours has the usage and comes in every stream, as the specification
    # wants (chat-completions result objects): one each, and nothing else may be wrong with it.
    assert failed == ["sse_validity"], done.stdout
    framing = checks["sse_validity"]
    assert framing["invalid_events"] == ITERATIONS, framing
    assert framing["content_type_valid"] and framing["done_markers_valid"] and not framing["errors"], framing


def test_the_judge_sees_a_leak_where_there_is_no_gateway(judged, tmp_path):
    done = selfcheck(judged, "capture://self", tmp_path / "report.json")
    assert done.returncode == 1 and "LEAK" in done.stdout, done.stdout + done.stderr


def test_replies_are_restored_and_lose_what_is_new(judged, tmp_path):
    command = ["pii-leak-benchmark-v2", "--only", "passthrough", "--model", MODEL, "--seed", SEED]
    command += ["--gateway-url", f"{judged.base_url}/v1/chat/completions"]
    command += ["--upstream-port", str(judged.capture_port), "--out", str(tmp_path)]
    done = judge(judged, *command)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads((tmp_path / "passthrough.json").read_text())
    metrics, boundary = report["metrics"], report["checks"]["configured_upstream_boundary"]
    assert boundary["passed"] and boundary["leaked_entity_types"] == [], boundary
    assert metrics["leak_rate"] == {"single_chunk": 0.0, "adversarial": 0.0, "overall": 0.0}, metrics
    kinds = metrics["by_axis"]["entity"]
    assert {kind: row["leaked"] for kind, row in kinds.items()} == dict.fromkeys(("EMAIL", "SSN", "CARDPAN", "USPHONE"), 0)
    # The other two sites are refused: a field that the format lacks, and PHI in a definition of a tool.
    assert metrics["cases_inconclusive"] == 2 * CASES_PER_SITE, metrics
    assert report["checks"]["sse_validity"]["status_codes"] == [200, 400]
    sites = metrics["by_axis"]["request_site"]
    fidelity = {site: (row["fidelity_rate"], row["applicable"]) for site, row in sites.items()}
    # What the operator's prompt says is hidden from the model and stays hidden from the caller (lessons, 10).
    assert fidelity == {"chat-content": (1.0, CASES_PER_SITE), "system-content": (0.0, CASES_PER_SITE)}


class Reply:
    """The reply guard as a filter: the fake says a text, and the gateway lets something of it through."""

    def __init__(self, judged) -> None:
        self.gateway = httpx.Client(
            base_url=judged.base_url, headers={"authorization": f"Bearer {judged.key}"}, timeout=TIMEOUT_S
        )
        self.fake = httpx.Client(base_url=judged.fake, timeout=TIMEOUT_S)
        self.marks = itertools.count()

    def ask(self, chunks: list[str], stream: bool) -> httpx.Response:
        # Letters only, so that no detector takes it for anything.
        mark = "quokka" + "".join(chr(ord("a") + int(digit)) for digit in str(next(self.marks)))
        order = {"contains": f"{mark} ", "text_chunks": chunks}
        self.fake.post("/_control/script", json={"behaviours": [order]}).raise_for_status()
        body = {"model": FAKE_MODEL, "message": f"{mark} please", "stream": stream, "store": False}
        return self.gateway.post("/v1/ai/chat", json=body).raise_for_status()

    def whole(self, text: str) -> str:
        return self.ask([text], stream=False).json()["data"]["message"]["content"]

    def streamed(self, chunks) -> list[str]:
        frames = self.ask(list(chunks), stream=True).text.split("\n\n")
        assert any(frame.startswith("event: run.completed\n") for frame in frames), frames
        deltas = [frame for frame in frames if frame.startswith("event: message.delta\n")]
        return [json.loads(frame.split("\ndata: ")[1])["text"] for frame in deltas]


@pytest.mark.parametrize("text", (*DEFAULT_SAMPLES, *OWN_SAMPLES))
def test_cuts_change_nothing(judged, text):
    reply = Reply(judged)
    assert assert_chunk_invariant(reply.streamed, reply.whole, text) == len(text)


def test_the_judge_sees_a_cut_value(judged):
    """A filter that looks at each piece alone is refused: there is something to cut in the text."""
    reply = Reply(judged)
    assert "536-22-8714" not in reply.whole(OWN_SAMPLES[1])

    def piecewise(chunks):
        return [reply.whole(chunk) for chunk in chunks]

    with pytest.raises(ChunkInvarianceError):
        assert_chunk_invariant(piecewise, reply.whole, OWN_SAMPLES[1])
