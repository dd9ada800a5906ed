"""The document is OpenAPI 3.1, and a running gateway is what it says, also where it is asked for nonsense.

`schemathesis` makes requests that the document allows and requests that it forbids, follows its links, leaves
credentials out and tries other methods, and judges every answer by the document (schemathesis.toml).
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from openapi_spec_validator import OpenAPIV31SpecValidator

FOLDER = Path(__file__).resolve().parent
DOCUMENT = FOLDER.parents[1] / "docs" / "openapi.yaml"
# Operations by what they are about. What the control plane is told (paused, no budget) must not silence the models,
# so that each half has an organization of its own.
INFERENCE = ("inference", "solving")
# Seconds for one half.
RUN_TIMEOUT_S = 600


def document() -> dict:
    return yaml.safe_load(DOCUMENT.read_text())


def operations(document: dict) -> list[tuple[str, dict]]:
    """Every operation with its label."""
    methods = ("get", "put", "post", "delete", "patch")
    found = []
    for path, item in document["paths"].items():
        found += [(f"{method.upper()} {path}", item[method]) for method in methods if method in item]
    return found


def schemathesis(served, document: Path, report: Path, *options: str) -> subprocess.CompletedProcess:
    organization = served.organization()
    environment = {
        "PATH": os.environ["PATH"],
        "OPENAPI_HOOKS": str(FOLDER / "hooks.py"),
        "OPENAPI_ORGANIZATION": organization["organization_id"],
    }
    program = Path(sys.executable).parent / "schemathesis"
    command = [str(program), "--config-file", str(FOLDER / "schemathesis.toml"), "--no-color", "run", str(document)]
    command += ["--url", served.base_url, "--header", f"Authorization: Bearer {organization['api_key']}"]
    command += ["--report", "ndjson", "--report-ndjson-path", str(report), *options]
    return subprocess.run(
        command, env=environment, cwd=report.parent, capture_output=True, text=True, timeout=RUN_TIMEOUT_S
    )


def test_the_document_is_openapi_3_1():
    assert document()["openapi"].startswith("3.1.")
    assert [str(error) for error in OpenAPIV31SpecValidator(document()).iter_errors()] == []


@pytest.mark.parametrize("half", ["inference", "control"])
def test_the_gateway_is_what_the_document_says(served, tmp_path, half):
    tags = {operation["tags"][0] for _, operation in operations(document())}
    wanted = [tag for tag in sorted(tags) if (tag in INFERENCE) == (half == "inference")]
    options = [option for tag in wanted for option in ("--include-tag", tag)]
    done = schemathesis(served, DOCUMENT, tmp_path / "report.ndjson", *options)
    assert done.returncode == 0, done.stdout + done.stderr
    tested = (tmp_path / "report.ndjson").read_text()
    for label, operation in operations(document()):
        if operation["tags"][0] in wanted:
            assert label in tested, f"{label} was not tested"


def test_the_judge_sees_a_field_that_is_missing(served, tmp_path):
    lying = document()
    lying["components"]["schemas"]["Budget"]["required"].append("colour")
    (tmp_path / "openapi.yaml").write_text(json.dumps(lying))
    options = ("--include-operation-id", "readBudget")
    done = schemathesis(served, tmp_path / "openapi.yaml", tmp_path / "report.ndjson", *options)
    assert done.returncode == 1 and "colour" in done.stdout, done.stdout + done.stderr
