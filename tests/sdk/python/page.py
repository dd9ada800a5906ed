"""The examples of docs/sdks.md, run as their readers run them, against this suite's gateway."""

import re
from pathlib import Path

import world

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "sdks.md").read_text()
ADDRESS = "http://127.0.0.1:8080"
EXAMPLES = dict(re.findall(r"^### ([^\n]+)\n\n```python\n(.+?)^```$", PAGE, re.MULTILINE | re.DOTALL))
SDKS = ["Loops over a stream", "anthropic", "openai", "LangChain", "pydantic-ai"]
FRAMEWORKS = ["litellm", "llama-index", "openai-agents", "instructor"]


def answers(name: str, key: str, monkeypatch, capsys) -> list[str]:
    """What the example prints, line by line."""
    code = EXAMPLES[name]
    assert ADDRESS in code
    monkeypatch.setenv("SVC_API_KEY", key)
    exec(compile(code.replace(ADDRESS, world.GATEWAY), name, "exec"), {"__name__": name})
    return capsys.readouterr().out.splitlines()
