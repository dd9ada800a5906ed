"""Bodies and streams as bytes, for what no SDK would send or show."""

import json

import httpx

import world

ALPHA, BETA = world.MODELS
# The version of the messages format that still has sampling parameters.
CLASSIC = "2023-06-01"


def user(content) -> dict:
    return {"role": "user", "content": content}


def assistant(content) -> dict:
    return {"role": "assistant", "content": content}


def call(id: str, name: str = "weather", **arguments) -> dict:
    """A call of the chat-completions format."""
    return {"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def result(id: str, content: str) -> dict:
    return {"role": "tool", "tool_call_id": id, "content": content}


def tool_use(id: str, name: str = "weather", **arguments) -> dict:
    """A call of the messages format."""
    return {"type": "tool_use", "id": id, "name": name, "input": arguments}


def tool_result(id: str, content, **more) -> dict:
    return {"type": "tool_result", "tool_use_id": id, "content": content, **more}


FUNCTION = {"type": "function", "function": {"name": "weather", "parameters": world.WEATHER_SCHEMA}}
TOOL = {"name": "weather", "input_schema": world.WEATHER_SCHEMA}


def chat(key: str, model: str, messages, **more) -> httpx.Response:
    return post(key, "/v1/chat/completions", {"model": model, "messages": listed(messages), **more})


def messages(key: str, model: str, messages, version: str = CLASSIC, **more) -> httpx.Response:
    body = {"model": model, "max_tokens": 300, "messages": listed(messages), **more}
    return post(key, "/v1/messages", body, {"anthropic-version": version})


def listed(messages) -> list:
    return [user(messages)] if isinstance(messages, str) else messages


def post(key: str, path: str, body, headers: dict | None = None) -> httpx.Response:
    headers = {"authorization": f"Bearer {key}", **(headers or {})}
    return httpx.post(world.GATEWAY + path, json=body, headers=headers, timeout=world.TIMEOUT_S)


def good(answer: httpx.Response) -> dict:
    assert answer.status_code == 200, answer.text
    return answer.json()


def refusal(answer: httpx.Response, status: int, code: str) -> dict:
    """The `error` object of a refusal on either surface."""
    error = answer.json()["error"]
    assert (answer.status_code, error.get("svc_code", error["code"])) == (status, code), answer.text
    return error


def events(answer: httpx.Response) -> list[tuple[str, str]]:
    """Name and data of every event of a stream; comments are left out."""
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/event-stream")
    found = []
    for block in answer.text.split("\n\n"):
        fields = [line.split(": ", 1) for line in block.split("\n") if line and not line.startswith(":")]
        if fields:
            values = dict(fields)
            assert set(values) <= {"event", "data"} and len(values) == len(fields), block
            found.append((values.get("event", ""), values["data"]))
    return found


def chunks(answer: httpx.Response) -> list[dict]:
    """The chunks of a good stream of the chat-completions surface."""
    found = events(answer)
    assert found[-1] == ("", "[DONE]"), answer.text
    return [json.loads(data) for _, data in found[:-1]]


def deltas(answer: httpx.Response) -> list[dict]:
    return [chunk["choices"][0]["delta"] for chunk in chunks(answer) if chunk["choices"]]


def message_events(answer: httpx.Response) -> list[dict]:
    """The events of a good stream of the messages surface, checked for what every one must keep."""
    found = [json.loads(data) for name, data in events(answer) if name != "ping"]
    assert [event["type"] for event in found] == [name for name, _ in events(answer) if name != "ping"]
    assert found[0]["type"] == "message_start" and found[-1]["type"] == "message_stop", answer.text
    starts = [event["index"] for event in found if event["type"] == "content_block_start"]
    stops = [event["index"] for event in found if event["type"] == "content_block_stop"]
    # Dense from 0, and one block at a time.
    assert starts == stops == list(range(len(starts)))
    return found


def text_of(answer: httpx.Response, surface: str) -> str:
    """The text of a stream."""
    if surface == "chat":
        return "".join(delta.get("content") or "" for delta in deltas(answer))
    found = [event["delta"] for event in message_events(answer) if event["type"] == "content_block_delta"]
    return "".join(delta.get("text", "") for delta in found)


def stream_of(body: str) -> dict:
    """The provider sends exactly these bytes as its stream."""
    return {"raw_body": body, "content_type": "text/event-stream"}


def beta_stream(*chunks: dict | str, end: str = "data: [DONE]\n\n") -> dict:
    lines = [chunk if isinstance(chunk, str) else json.dumps({"id": "c1", "model": "m", **chunk}) for chunk in chunks]
    return stream_of("".join(f"data: {line}\n\n" for line in lines) + end)


def delta(finish: str | None = None, **fields) -> dict:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def alpha_stream(*events: dict) -> dict:
    return stream_of("".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events))


def alpha_start(**usage) -> dict:
    message = {"type": "message", "id": "m1", "model": "m", "role": "assistant", "content": []}
    counts = {"input_tokens": 9, "output_tokens": 1, **usage}
    return {"type": "message_start", "message": {**message, "stop_reason": None, "usage": counts}}


def alpha_block(index: int, block: dict, *deltas: dict) -> list[dict]:
    return [
        {"type": "content_block_start", "index": index, "content_block": block},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def alpha_end(stop_reason: str = "end_turn", **usage) -> list[dict]:
    end = {"type": "message_delta", "delta": {"stop_reason": stop_reason, "stop_sequence": None}}
    return [{**end, "usage": {"output_tokens": 3, **usage}}, {"type": "message_stop"}]
