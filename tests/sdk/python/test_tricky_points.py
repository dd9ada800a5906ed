"""What is lossy or tricky between two wire formats, point by point as the notes on wire formats number it."""

import json

import pytest

import wire
import world
from wire import ALPHA, BETA, assistant, call, chat, good, messages, refusal, result, tool_result, tool_use, user

BOTH = pytest.mark.parametrize("surface", ["chat", "messages"])


def ask(surface: str):
    return {"chat": chat, "messages": messages}[surface]


def history(surface: str, *ids: str, answers=None, text=None) -> list[dict]:
    """A conversation with calls and their results, in the words of a surface."""
    answers = list(ids) if answers is None else answers
    if surface == "chat":
        calls = [call(id, city=id) for id in ids]
        results = [result(id, f"sunny {id}") for id in answers]
        more = [user(text)] if text else []
        return [user("Weather?"), {**assistant(None), "tool_calls": calls}, *results, *more]
    calls = [tool_use(id, city=id) for id in ids]
    results = [tool_result(id, f"sunny {id}") for id in answers]
    # A text in front, where kind A does not take it.
    first = [{"type": "text", "text": text}] if text else []
    return [user("Weather?"), assistant(calls), user(first + results)]


def tools_of(surface: str) -> list[dict]:
    return [wire.FUNCTION] if surface == "chat" else [wire.TOOL]


def sent_result_ids(body: dict) -> list[str]:
    """Ids of the results that a provider received, in order."""
    if any(message["role"] == "tool" for message in body["messages"]):
        return [message["tool_call_id"] for message in body["messages"] if message["role"] == "tool"]
    blocks = [block for turn in body["messages"] for block in turn["content"] if isinstance(block, dict)]
    return [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]


def test_01_a_failed_tool_is_told_to_both_kinds(key, fake, model):
    turns = [user("Weather?"), assistant([tool_use("t1")]), user([tool_result("t1", "no signal", is_error=True)])]
    good(messages(key, model, turns, tools=[wire.TOOL]))
    [body] = fake.bodies()
    if model == ALPHA:
        [block] = body["messages"][2]["content"]
        assert block["is_error"] is True and block["content"][0]["text"] == "no signal"
    else:
        assert body["messages"][-1]["content"] == "Error: no signal"


@BOTH
def test_02_to_04_results_are_one_turn_in_front_and_in_the_order_of_their_calls(key, fake, model, surface):
    turns = history(surface, "t1", "t2", "t3", answers=["t3", "t1", "t2"], text="And tomorrow?")
    good(ask(surface)(key, model, turns, tools=tools_of(surface)))
    [body] = fake.bodies()
    assert sent_result_ids(body) == ["t1", "t2", "t3"]
    if model == ALPHA:
        assert [turn["role"] for turn in body["messages"]] == ["user", "assistant", "user"]
        kinds = [block["type"] for block in body["messages"][2]["content"]]
        assert kinds == ["tool_result"] * 3 + ["text"]
    else:
        assert [turn["role"] for turn in body["messages"]] == ["user", "assistant", "tool", "tool", "tool", "user"]


@BOTH
@pytest.mark.parametrize("answers", [[], ["t1"], ["t1", "t2", "t9"]], ids=["none", "one of two", "one too many"])
def test_05_a_dangling_call_is_refused_early(key, fake, model, surface, answers):
    turns = history(surface, "t1", "t2", answers=answers, text="Well?")
    refusal(ask(surface)(key, model, turns, tools=tools_of(surface)), 400 if surface == "chat" else 422, "VALIDATION_FAILED")
    assert fake.requests() == []


@BOTH
def test_06_foreign_ids_are_mapped_one_to_one(key, fake, surface):
    ids = ["call.1", "call:1", "x_63616c6c2e31", "ünï", "a" * 80, "a" * 80 + "b"]
    good(ask(surface)(key, ALPHA, history(surface, *ids), tools=tools_of(surface)))
    [body] = fake.bodies()
    sent = [block["id"] for block in body["messages"][1]["content"]]
    assert len(set(sent)) == len(ids) and sent == sent_result_ids(body)
    assert sent[2] == ids[2]


@BOTH
def test_07_a_providers_own_ids_round_trip(key, fake, model, surface):
    fake.expect(world.tool_behaviour("Oslo"))
    first = good(ask(surface)(key, model, "Weather?", tools=tools_of(surface)))
    if surface == "chat":
        id = first["choices"][0]["message"]["tool_calls"][0]["id"]
    else:
        id = next(block["id"] for block in first["content"] if block["type"] == "tool_use")
    good(ask(surface)(key, model, history(surface, id), tools=tools_of(surface)))
    assert sent_result_ids(fake.bodies()[1]) == [id]


@BOTH
@pytest.mark.parametrize("name", ["my tool", "a.b", "", "n" * 129])
def test_08_a_tools_name_fits_every_kind(key, fake, model, surface, name):
    function = {"type": "function", "function": {**wire.FUNCTION["function"], "name": name}}
    tools = [function] if surface == "chat" else [{**wire.TOOL, "name": name}]
    refusal(ask(surface)(key, model, "Hi.", tools=tools), 400 if surface == "chat" else 422, "VALIDATION_FAILED")
    assert fake.requests() == []


def test_08_a_long_name_fits_the_surfaces_and_kinds_that_take_it(key, fake):
    name = "n" * 65
    function = {"type": "function", "function": {**wire.FUNCTION["function"], "name": name}}
    refusal(chat(key, ALPHA, "Hi.", tools=[function]), 400, "VALIDATION_FAILED")
    tools = [{**wire.TOOL, "name": name}]
    error = refusal(messages(key, BETA, "Hi.", tools=tools), 400, "UNSUPPORTED_PARAMETER")
    assert error["param"] == "tools[0].name"
    assert fake.requests() == []
    good(messages(key, ALPHA, "Hi.", tools=tools))
    assert fake.bodies()[0]["tools"][0]["name"] == name


@pytest.mark.parametrize("stream", [False, True])
def test_09_and_10_a_call_without_arguments_is_an_empty_object(key, fake, model, stream):
    fake.expect({"tools": [{"name": "weather", "input": {}}]}, {"tools": [{"name": "weather", "input": {}}]})
    on_chat = chat(key, model, "Weather?", tools=[wire.FUNCTION], stream=stream)
    on_messages = messages(key, model, "Weather?", tools=[wire.TOOL], stream=stream)
    if not stream:
        [made] = good(on_chat)["choices"][0]["message"]["tool_calls"]
        assert json.loads(made["function"]["arguments"]) == {}
        assert [block["input"] for block in good(on_messages)["content"]] == [{}]
        return
    pieces = [piece["tool_calls"][0] for piece in wire.deltas(on_chat) if "tool_calls" in piece]
    assert (pieces[0]["function"]["name"], pieces[0]["index"]) == ("weather", 0)
    assert json.loads("".join(piece["function"]["arguments"] for piece in pieces)) == {}
    # Nothing empty but the start.
    assert all(piece["function"]["arguments"] for piece in pieces[1:])
    found = wire.message_events(on_messages)
    parts = [event["delta"]["partial_json"] for event in found if event["type"] == "content_block_delta"]
    assert json.loads("".join(parts) or "{}") == {}


@BOTH
def test_11_a_character_cut_between_two_reads_is_whole(key, fake, model, surface):
    text = "Grüße 🩺 naïve — ★"
    fake.expect({"text": text, "drip_bytes": 1})
    assert wire.text_of(ask(surface)(key, model, "Hi.", stream=True), surface) == text


def interleaved() -> dict:
    """Call 1 opens before call 0 ends."""
    def piece(index, **call):
        return wire.delta(tool_calls=[{"index": index, **call}])

    def opening(index, city):
        return piece(index, id=f"call_{index}", type="function", function={"name": "weather", "arguments": city})

    return wire.beta_stream(
        wire.delta(role="assistant", content=None),
        opening(0, ""),
        piece(0, function={"arguments": '{"city":'}),
        opening(1, '{"city"'),
        piece(0, function={"arguments": '"Oslo"}'}),
        piece(1, function={"arguments": ':"Rome"}'}),
        wire.delta("tool_calls"),
        {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 7}},
    )


def test_12_interleaved_calls_become_blocks_one_after_the_other(key, fake):
    fake.expect(interleaved(), interleaved())
    found = wire.message_events(messages(key, BETA, "Weather?", tools=[wire.TOOL], stream=True))
    assert arguments_by_index(found) == {0: {"city": "Oslo"}, 1: {"city": "Rome"}}
    by_call: dict[int, str] = {}
    for piece in wire.deltas(chat(key, BETA, "Weather?", tools=[wire.FUNCTION], stream=True)):
        for made in piece.get("tool_calls", []):
            by_call[made["index"]] = by_call.get(made["index"], "") + made["function"]["arguments"]
    assert {index: json.loads(text) for index, text in by_call.items()} == {0: {"city": "Oslo"}, 1: {"city": "Rome"}}


def arguments_by_index(found: list[dict]) -> dict[int, dict]:
    parts: dict[int, str] = {}
    for event in found:
        if event["type"] == "content_block_delta" and event["delta"]["type"] == "input_json_delta":
            parts[event["index"]] = parts.get(event["index"], "") + event["delta"]["partial_json"]
    return {index: json.loads(text) for index, text in parts.items()}


def test_13_blocks_and_calls_are_numbered_anew(key, fake, model):
    fake.expect(*[{"text": "Let me look.", **world.tool_behaviour("Oslo", "Rome")}] * 2)
    found = wire.message_events(messages(key, model, "Weather?", tools=[wire.TOOL], stream=True))
    assert arguments_by_index(found) == {1: {"city": "Oslo"}, 2: {"city": "Rome"}}
    streamed = wire.deltas(chat(key, model, "Weather?", tools=[wire.FUNCTION], stream=True))
    assert {made["index"] for piece in streamed for made in piece.get("tool_calls", [])} == {0, 1}


def test_14_text_beside_a_call_is_null_whole_and_sent_in_a_stream(key, fake, model):
    fake.expect(*[{"text": "Let me look.", **world.tool_behaviour("Oslo")}] * 2)
    choice = good(chat(key, model, "Weather?", tools=[wire.FUNCTION]))["choices"][0]
    assert (choice["message"]["content"], choice["finish_reason"]) == (None, "tool_calls")
    streamed = wire.deltas(chat(key, model, "Weather?", tools=[wire.FUNCTION], stream=True))
    assert streamed[0] == {"role": "assistant"}
    assert "".join(piece.get("content", "") for piece in streamed) == "Let me look."


@BOTH
@pytest.mark.parametrize("blank", ["", " ", "\n\n"])
def test_15_empty_text_is_left_out(key, fake, model, surface, blank):
    turns = history(surface, "t1")
    if surface == "chat":
        turns[1]["content"] = blank
        turns.insert(0, {"role": "system", "content": blank})
    else:
        turns[1]["content"].insert(0, {"type": "text", "text": blank})
        turns[2]["content"].append({"type": "text", "text": blank})
    good(ask(surface)(key, model, turns, tools=tools_of(surface)))
    assert len(fake.requests()) == 1


def test_16_an_assistant_turn_of_nothing_is_none_at_a_and_empty_at_b(key, fake, model):
    good(chat(key, model, [user("One."), assistant(""), user("Two.")]))
    [body] = fake.bodies()
    roles = [turn["role"] for turn in body["messages"]]
    if model == ALPHA:
        assert roles == ["user"] and len(body["messages"][0]["content"]) == 2
    else:
        assert roles == ["user", "assistant", "user"] and body["messages"][1]["content"] == ""


@BOTH
def test_17_turns_of_one_role_are_merged_for_a(key, fake, surface):
    good(ask(surface)(key, ALPHA, [user("One."), user("Two."), assistant("Three."), assistant("Four."), user("Five.")]))
    [body] = fake.bodies()
    assert [turn["role"] for turn in body["messages"]] == ["user", "assistant", "user"]
    assert [block["text"] for block in body["messages"][0]["content"]] == ["One.", "Two."]


@BOTH
def test_18_and_19_system_messages_are_joined_in_order(key, fake, model, surface):
    system = [{"role": "system", "content": text} for text in ("First rule.", "Second rule.")]
    good(ask(surface)(key, model, [system[0], user("One."), assistant("Two."), system[1], user("Three.")]))
    [body] = fake.bodies()
    if model == ALPHA:
        assert [block["text"] for block in body["system"]] == ["First rule.", "Second rule."]
    else:
        assert body["messages"][0] == {"role": "system", "content": "First rule.\n\nSecond rule."}
    assert [turn["role"] for turn in body["messages"] if turn["role"] != "system"] == ["user", "assistant", "user"]


def test_20_an_authors_name_is_scanned_and_has_no_place_at_a(key, fake, model):
    good(chat(key, model, [{**user("Hello."), "name": "nurse_ada"}]))
    good(chat(key, model, [{**user("Hello."), "name": world.SSN}]))
    plain, private = fake.bodies()
    assert ("nurse_ada" in json.dumps(plain)) == (model == BETA)
    assert world.SSN not in json.dumps(private)


def test_21_developer_is_no_role(key, fake, model):
    error = refusal(chat(key, model, [{"role": "developer", "content": "Be brief."}, user("Hi.")]), 400, "VALIDATION_FAILED")
    assert error["param"] == "messages[0].role"


def test_22_temperature_is_clamped_refused_or_left_out(key, fake):
    good(chat(key, ALPHA, "Hi.", temperature=1.7))
    good(chat(key, BETA, "Hi.", temperature=1.7))
    good(chat(key, "alpha-opus-4-7", "Hi.", temperature=1))
    assert [body.get("temperature") for body in fake.bodies()] == [1.0, 1.7, None]
    error = refusal(chat(key, "alpha-opus-4-7", "Hi.", temperature=0.1), 400, "UNSUPPORTED_PARAMETER")
    assert error["param"] == "temperature"
    # The driver picks the version of the format that has sampling.
    versions = [dict(request["headers"]).get("anthropic-version") for request in fake.requests()]
    assert versions[0] == wire.CLASSIC


def test_23_and_24_a_limit_is_always_sent_under_its_newer_name(key, fake):
    for limit in ({}, {"max_tokens": 50}, {"max_completion_tokens": 60}):
        good(chat(key, ALPHA, "Hi.", **limit))
        good(chat(key, BETA, "Hi.", **limit))
    bodies = fake.bodies()
    at_a = [body["max_tokens"] for body in bodies[::2]]
    at_b = [body["max_completion_tokens"] for body in bodies[1::2]]
    assert at_a[1:] == at_b[1:] == [50, 60] and at_a[0] >= 1000 and at_b[0] >= 1000
    assert not any("max_tokens" in body for body in bodies[1::2])
    refusal(chat(key, ALPHA, "Hi.", max_tokens=32_001), 400, "VALIDATION_FAILED")


def test_25_inert_parameters_pass_and_the_others_are_refused_by_name(key, fake, model):
    inert = {"n": 3, "top_p": 0.5, "frequency_penalty": 1, "presence_penalty": -1, "stop": ["x"], "user": "u"}
    reply = good(chat(key, model, "Hi.", **inert))
    assert len(reply["choices"]) == 1
    assert not set(inert) & set(fake.bodies()[0])
    for name, value in {"logprobs": True, "logit_bias": {"50256": -100}, "top_logprobs": 3}.items():
        error = refusal(chat(key, model, "Hi.", **{name: value}), 400, "UNSUPPORTED_PARAMETER")
        assert error["param"] == name
    seeded = chat(key, model, "Hi.", seed=7)
    if model == ALPHA:
        assert refusal(seeded, 400, "UNSUPPORTED_PARAMETER")["param"] == "seed"
    else:
        assert good(seeded) and fake.bodies()[1]["seed"] == 7
    for name, value in {"n": 0, "top_p": 2, "stop": [1], "user": 5, "frequency_penalty": "x"}.items():
        refusal(chat(key, model, "Hi.", **{name: value}), 400, "VALIDATION_FAILED")


def test_26_more_stop_sequences_than_a_kind_takes_are_refused(key, fake, model):
    stops = list("vwxyz")
    answer = messages(key, model, "Hi.", stop_sequences=stops)
    if model == ALPHA:
        assert good(answer) and fake.bodies()[0]["stop_sequences"] == stops
    else:
        assert refusal(answer, 400, "UNSUPPORTED_PARAMETER")["param"] == "stop_sequences"


def test_27_the_matched_sequence_is_known_at_a_alone(key, fake, model):
    reply = good(messages(key, model, "Say one STOP two.", stop_sequences=["STOP"]))
    expected = ("stop_sequence", "STOP") if model == ALPHA else ("end_turn", None)
    assert (reply["stop_reason"], reply["stop_sequence"]) == expected


@BOTH
@pytest.mark.parametrize("stream", [False, True])
def test_28_a_refusal_does_not_vanish(key, fake, surface, stream):
    if stream:
        fake.expect(wire.beta_stream(wire.delta(role="assistant"), wire.delta(refusal="I cannot."), wire.delta("stop")))
        assert wire.text_of(ask(surface)(key, BETA, "Hi.", stream=True), surface) == "I cannot."
        return
    message = {"role": "assistant", "content": None, "refusal": "I cannot."}
    whole = {"id": "c1", "model": "m", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    fake.expect({"raw_body": json.dumps(whole), "content_type": "application/json"})
    assert "I cannot." in json.dumps(good(ask(surface)(key, BETA, "Hi.")))


THINKING = {"type": "enabled", "budget_tokens": 1024}


def test_29_and_30_thinking_returns_to_a_unchanged_and_is_no_text(key, fake):
    fake.expect({"thinking": "Hmm.", "redacted_thinking": "c2VhbGVk", **world.tool_behaviour("Oslo")})
    more = {"thinking": THINKING, "max_tokens": 4096, "tools": [wire.TOOL]}
    reply = good(messages(key, ALPHA, "Weather?", **more))
    kinds = [block["type"] for block in reply["content"]]
    assert kinds == ["thinking", "redacted_thinking", "tool_use"]
    turns = [user("Weather?"), assistant(reply["content"]), user([tool_result(reply["content"][2]["id"], "sunny")])]
    good(messages(key, ALPHA, turns, **more))
    assert fake.bodies()[1]["messages"][1]["content"][:2] == reply["content"][:2]
    # Of no use at kind B, and never text there.
    good(messages(key, BETA, turns, tools=[wire.TOOL]))
    assert "Hmm." not in json.dumps(fake.bodies()[2]) and "c2VhbGVk" not in json.dumps(fake.bodies()[2])


def test_29_thinking_never_shows_on_chat_completions(key, fake):
    fake.expect(*[{"thinking": "Secret thought.", "text": "Hello."}] * 2)
    assert good(chat(key, ALPHA, "Hi."))["choices"][0]["message"]["content"] == "Hello."
    streamed = wire.deltas(chat(key, ALPHA, "Hi.", stream=True))
    assert {name for piece in streamed for name in piece} == {"role", "content"}
    assert "".join(piece.get("content", "") for piece in streamed) == "Hello."


def test_31_cache_marks_reach_a_and_counters_keep_their_meaning(key, fake, model):
    used = {"input_tokens": 100, "cache_read_input_tokens": 40, "cache_creation_input_tokens": 8, "output_tokens": 5}
    fake.expect(*[{"text": "Hi.", "usage": used}] * 2)
    mark = {"type": "ephemeral"}
    system = [{"type": "text", "text": "Be brief.", "cache_control": mark}]
    reply = good(messages(key, model, "Hi.", system=system))
    assert ("cache_control" in json.dumps(fake.bodies()[0])) == (model == ALPHA)
    usage = good(chat(key, model, "Hi."))["usage"]
    counts = reply["usage"]
    assert counts["cache_read_input_tokens"] == usage["prompt_tokens_details"]["cached_tokens"] == 40
    prompt = counts["input_tokens"] + counts["cache_read_input_tokens"] + counts["cache_creation_input_tokens"]
    assert (usage["prompt_tokens"], usage["total_tokens"]) == (prompt, prompt + 5)
    # Kind B has no count of what it wrote to the cache: that is ordinary input there.
    assert counts["input_tokens"] + counts["cache_creation_input_tokens"] == 108


def test_32_and_35_usage_is_always_asked_for_and_null_is_none(key, fake):
    fake.expect(
        wire.beta_stream(
            {"choices": [], "usage": None, "prompt_filter_results": []},
            {**wire.delta(role="assistant", content="", refusal=None), "usage": None},
            {**wire.delta(content="Hello."), "usage": None},
            {**wire.delta("stop"), "usage": None},
            {"choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 22, "total_tokens": 33}},
        )
    )
    last = wire.chunks(chat(key, BETA, "Hi.", stream=True))[-1]
    assert (last["usage"]["prompt_tokens"], last["usage"]["completion_tokens"]) == (11, 22)
    assert fake.bodies()[0]["stream_options"] == {"include_usage": True}


@BOTH
def test_33_a_provider_that_counts_nothing_is_counted(key, fake, surface):
    fake.expect(wire.beta_stream(wire.delta(role="assistant", content="Hello there, patient."), wire.delta("stop")))
    answer = ask(surface)(key, BETA, "Hello, how are you today?", stream=True)
    if surface == "chat":
        usage = wire.chunks(answer)[-1]["usage"]
        assert usage["prompt_tokens"] > 0 and usage["completion_tokens"] > 0
    else:
        usage = wire.message_events(answer)[-2]["usage"]
        assert usage["input_tokens"] > 0 and usage["output_tokens"] > 0


@BOTH
def test_34_counts_of_a_are_cumulative(key, fake, surface):
    block = wire.alpha_block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": "Hello."})
    middle = {"type": "message_delta", "delta": {}, "usage": {"output_tokens": 4}}
    fake.expect(wire.alpha_stream(wire.alpha_start(output_tokens=7), *block, middle, *wire.alpha_end(output_tokens=6)))
    answer = ask(surface)(key, ALPHA, "Hi.", stream=True)
    if surface == "chat":
        usage = wire.chunks(answer)[-1]["usage"]
        assert (usage["prompt_tokens"], usage["completion_tokens"]) == (9, 6)
    else:
        start, end = wire.message_events(answer)[0], wire.message_events(answer)[-2]
        assert start["message"]["usage"]["input_tokens"] == end["usage"]["input_tokens"] == 9
        assert end["usage"]["output_tokens"] == 6


@BOTH
def test_36_what_only_a_vendor_says_is_swallowed(key, fake, surface):
    extra = {"obfuscation": "aXk9", "service_tier": "default", "system_fingerprint": "fp_upstream"}
    fake.expect(
        wire.beta_stream(*({**chunk, **extra} for chunk in (wire.delta(role="assistant", content="Hi."), wire.delta("stop"))))
    )
    answer = ask(surface)(key, BETA, "Hi.", stream=True)
    assert wire.text_of(answer, surface) == "Hi."
    assert "aXk9" not in answer.text and "fp_upstream" not in answer.text


ODD_FRAMING = [
    {"line_end": "crlf"},
    {"line_end": "cr"},
    {"bom": True},
    {"comments": True},
    {"no_space": True},
    {"multi_line_data": True},
    {"id_and_retry": True},
    {"unterminated": True},
    {"line_end": "cr", "bom": True, "comments": True, "no_space": True, "id_and_retry": True, "drip_bytes": 1},
]


@BOTH
@pytest.mark.parametrize("odd", ODD_FRAMING, ids=lambda odd: "+".join(odd))
def test_37_and_38_odd_framing_is_taken_and_never_given(key, fake, model, surface, odd):
    fake.expect({"text": "Grüße, you.", **odd})
    answer = ask(surface)(key, model, "Hi.", stream=True)
    assert wire.text_of(answer, surface) == "Grüße, you."
    assert "\r" not in answer.text and not answer.text.startswith("\ufeff")


@BOTH
def test_37_a_ping_may_come_first_and_anywhere(key, fake, surface):
    ping = {"type": "ping"}
    block = wire.alpha_block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": "Hello."})
    unknown = {"type": "weather_report", "index": 5}
    stream = wire.alpha_stream(ping, wire.alpha_start(), ping, block[0], ping, unknown, *block[1:], *wire.alpha_end(), ping)
    fake.expect({**stream, "raw_body": "event: ping\n\n" + stream["raw_body"]})
    answer = ask(surface)(key, ALPHA, "Hi.", stream=True)
    assert wire.text_of(answer, surface) == "Hello."
    assert "weather_report" not in answer.text


@BOTH
@pytest.mark.parametrize("end", ["data: [DONE]", "data:[DONE]\n\n: bye\n\ndata: {}\n\n", "data: [DONE]\n\ngarbage"])
def test_38_what_follows_the_end_is_nothing(key, fake, surface, end):
    fake.expect(wire.beta_stream(wire.delta(role="assistant", content="Hello."), wire.delta("stop"), end=end))
    assert wire.text_of(ask(surface)(key, BETA, "Hi.", stream=True), surface) == "Hello."


BROKEN = [
    {"no_terminal_event": True},
    {"close_after_events": 3},
    {"malformed_after_events": 3},
    {"error_event_after_events": 3},
]


@BOTH
@pytest.mark.parametrize("fault", BROKEN, ids=lambda fault: "+".join(fault))
def test_39_a_stream_that_breaks_off_is_never_a_success(key, fake, model, surface, fault):
    fake.expect({"event_count": 8, **fault})
    answer = ask(surface)(key, model, "Count.", stream=True)
    assert "[DONE]" not in answer.text and "message_stop" not in answer.text
    name, data = wire.events(answer)[-1]
    error = json.loads(data)["error"]
    assert name == ("" if surface == "chat" else "error")
    assert error.get("svc_code", error["code"]) == "INFERENCE_UPSTREAM_FAILURE"


@BOTH
def test_39_a_reply_that_breaks_off_is_never_a_success(key, fake, model, surface):
    fake.expect({"close_after_events": 1})
    refusal(ask(surface)(key, model, "Hi."), 500 if surface == "chat" else 502, "INFERENCE_UPSTREAM_FAILURE")


@BOTH
@pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 408, 409, 413, 418, 422, 429, 500, 502, 503, 504, 529])
def test_40_to_42_every_failure_of_a_provider_is_the_gateways_own(key, fake, model, surface, status):
    word = world.mark()
    fake.expect({"status": status, "error_message": f"prompt was {word}", "error_type": f"type_{word}"})
    answer = ask(surface)(key, model, "Hi.")
    refusal(answer, 500 if surface == "chat" else 502, "INFERENCE_UPSTREAM_FAILURE")
    assert word not in answer.text and word not in str(answer.headers)
    assert "retry-after" in answer.headers or answer.headers["x-should-retry"] == "false"
    # The SDK repeats; a gateway that did so too would multiply.
    assert len(fake.requests()) == 1


@BOTH
@pytest.mark.parametrize("stream", [False, True])
def test_41_a_page_of_a_proxy_is_never_relayed(key, fake, model, surface, stream):
    fake.expect({"html_page": True})
    answer = ask(surface)(key, model, "Hi.", stream=stream)
    refusal(answer, 500 if surface == "chat" else 502, "INFERENCE_UPSTREAM_FAILURE")
    assert "<html" not in answer.text.lower()


@BOTH
def test_43_and_44_schemas_pass_untouched(key, fake, model, surface):
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Weather",
        "$defs": {"City": {"type": "string", "enum": ["Oslo", "Rome"]}},
        **world.WEATHER_SCHEMA,
        "properties": {"city": {"$ref": "#/$defs/City"}},
    }
    if surface == "chat":
        tools = [{"type": "function", "function": {"name": "weather", "parameters": schema, "strict": True}}]
    else:
        tools = [{"name": "weather", "input_schema": schema, "strict": True}]
    good(ask(surface)(key, model, "Hi.", tools=tools))
    [tool] = fake.bodies()[0]["tools"]
    sent = tool if model == ALPHA else tool["function"]
    assert sent["strict"] is True
    assert sent["input_schema" if model == ALPHA else "parameters"] == schema


@BOTH
def test_45_a_choice_needs_tools(key, fake, model, surface):
    choice = "required" if surface == "chat" else {"type": "any"}
    refusal(ask(surface)(key, model, "Hi.", tool_choice=choice), 400 if surface == "chat" else 422, "VALIDATION_FAILED")
    assert fake.requests() == []


@BOTH
def test_46_a_begun_reply_is_refused_by_name(key, fake, model, surface):
    """Where the format of kind B meets a model of kind B it is none: one more turn, as of another agent."""
    answer = ask(surface)(key, model, [user("Hi."), assistant("{")])
    if (surface, model) == ("chat", BETA):
        good(answer)
        [body] = fake.bodies()
        assert body["messages"][-1] == {"role": "assistant", "content": "{"}
        return
    error = refusal(answer, 400, "UNSUPPORTED_PARAMETER")
    assert error["param"] == "messages[1]" and fake.requests() == []


@BOTH
def test_47_a_history_of_tools_does_not_need_them_again(key, fake, model, surface):
    good(ask(surface)(key, model, history(surface, "t1", "t2")))
    [body] = fake.bodies()
    if model == ALPHA:
        assert [tool["name"] for tool in body["tools"]] == ["weather"] and body["tool_choice"] == {"type": "none"}
    else:
        assert "tools" not in body
