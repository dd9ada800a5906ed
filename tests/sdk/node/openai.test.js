// The official OpenAI SDK for Node against the chat-completions surface, for both provider kinds.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import OpenAI, * as openai from "openai";
import { zodResponseFormat } from "openai/helpers/zod";
import { z } from "zod";
import * as world from "./world.js";

const TOOL = { type: "function", function: { name: "weather", parameters: world.WEATHER_SCHEMA } };

function connect(apiKey = world.key, base = world.GATEWAY, maxRetries = 0) {
  return new OpenAI({ apiKey, baseURL: `${base}/v1`, timeout: world.TIMEOUT_MS, maxRetries });
}

const user = (content) => ({ role: "user", content });

world.surround();

for (const model of world.MODELS) {
  describe(`openai with ${model}`, () => {
    const client = connect();
    const create = (content, more = {}) =>
      client.chat.completions.create({ model, messages: [user(content)], ...more });
    const refused = async (key, content = "Hello.", more = {}) =>
      world.failure(() =>
        connect(key).chat.completions.create({ model, messages: [user(content)], ...more }),
      );

    test("plain", async () => {
      const word = world.mark();
      const reply = await create(`Say ${word}.`);
      assert.equal(reply.choices[0].finish_reason, "stop");
      assert.ok(reply.choices[0].message.content.includes(word));
      assert.ok(reply.usage.prompt_tokens > 0 && reply.usage.completion_tokens > 0);
      assert.ok(reply._request_id.startsWith("req_"));
    });

    test("several turns reach the provider in order", async () => {
      const words = Array.from({ length: 4 }, world.mark);
      const messages = [
        { role: "system", content: `Be brief, ${words[0]}.` },
        user(words[1]),
        { role: "assistant", content: words[2] },
        user(words[3]),
      ];
      const reply = await client.chat.completions.create({ model, messages });
      assert.ok(reply.choices[0].message.content.includes(words[3]));
      const [body] = (await world.requests()).map((request) => request.body);
      world.inOrder(JSON.stringify([body.system, body.messages]), words);
    });

    for (const cities of [["Oslo"], ["Oslo", "Rome", "Lima"]]) {
      test(`tools and their results: ${cities.length}`, async () => {
        await world.expect(world.calls(...cities));
        const messages = [user("What is the weather?")];
        const { choices } = await client.chat.completions.create({ model, messages, tools: [TOOL] });
        assert.deepEqual([choices[0].finish_reason, choices[0].message.content], ["tool_calls", null]);
        const calls = choices[0].message.tool_calls;
        assert.deepEqual(calls.map((call) => JSON.parse(call.function.arguments).city), cities);
        messages.push(choices[0].message);
        calls.forEach((call, at) =>
          messages.push({ role: "tool", tool_call_id: call.id, content: world.weather(cities[at]) }),
        );
        const last = await client.chat.completions.create({ model, messages, tools: [TOOL] });
        cities.forEach((city) => assert.ok(last.choices[0].message.content.includes(world.weather(city))));
      });
    }

    test("runTools closes the loop by itself", async () => {
      await world.expect(world.calls("Oslo", "Rome"));
      const called = (input) => world.weather(input.city);
      const tool = { ...TOOL, function: { ...TOOL.function, function: called, parse: JSON.parse } };
      const runner = client.chat.completions.runTools({ model, messages: [user("Weather?")], tools: [tool] });
      assert.ok((await runner.finalContent()).includes("sunny in Rome"));
    });

    test("stream", async () => {
      const word = world.mark();
      const chunks = [];
      for await (const chunk of await create(`Say ${word}.`, { stream: true })) chunks.push(chunk);
      const text = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("");
      assert.ok(text.includes(word));
      assert.ok(chunks.at(-1).choices.length === 0 && chunks.at(-1).usage.completion_tokens > 0);
    });

    test("stream helper with tools", async () => {
      await world.expect(world.calls("Oslo", "Rome"));
      const request = { model, messages: [user("Weather?")], tools: [TOOL], stream: true };
      const { choices } = await client.chat.completions.stream(request).finalChatCompletion();
      const cities = choices[0].message.tool_calls.map((call) => JSON.parse(call.function.arguments).city);
      assert.deepEqual(cities, ["Oslo", "Rome"]);
    });

    test("image", async () => {
      const url = `data:image/png;base64,${world.PIXEL_PNG}`;
      await create([{ type: "text", text: "What is this?" }, { type: "image_url", image_url: { url } }]);
      assert.ok((await world.bodies())[0].includes(world.PIXEL_PNG));
    });

    test("document", async () => {
      const file = { filename: "page.pdf", file_data: `data:application/pdf;base64,${world.PAGE_PDF}` };
      await create([{ type: "text", text: "What is this?" }, { type: "file", file }]);
      assert.ok((await world.bodies())[0].includes(world.PAGE_PDF));
    });

    test("structured output", async () => {
      const schema = z.object({ city: z.string(), degrees: z.number() });
      const reply = await client.chat.completions.parse({
        model,
        messages: [user("Weather?")],
        response_format: zodResponseFormat(schema, "weather"),
      });
      assert.equal(typeof reply.choices[0].message.parsed.city, "string");
    });

    test("patient data is replaced", async () => {
      await create(`My SSN is ${world.SSN}.`);
      assert.ok((await world.bodies())[0].includes("[SSN_1]"));
    });

    test("refusals raise the right class", async () => {
      const limited = world.organization("--per-minute", "1");
      await connect(limited).chat.completions.create({ model, messages: [user("Hello.")] });
      const blocking = world.organization("--phi-mode", "block");
      const unscoped = world.organization("--scopes", "control:read");
      const retired = { model: world.RETIRED_MODEL };
      const tooLong = "a".repeat(world.TOO_LONG_CHARS);
      const cases = [
        [await refused(world.key, "Hello.", retired), openai.BadRequestError, 400, "model_retired"],
        [await refused(world.key, tooLong), openai.BadRequestError, 400, "payload_too_large"],
        [await refused("svc_api_live_unknown"), openai.AuthenticationError, 401, "invalid_api_key"],
        [await refused(world.organization("--no-baa")), openai.PermissionDeniedError, 403, "baa_required"],
        [await refused(unscoped), openai.PermissionDeniedError, 403, "missing_scope"],
        [await refused(blocking, `SSN ${world.SSN}`), openai.BadRequestError, 400, "phi_blocked"],
        [await refused(world.key, "Hello.", { temperature: 7 }), openai.BadRequestError, 400, "validation_failed"],
        [await refused(world.key, "Hello.", { logprobs: true }), openai.BadRequestError, 400, "unsupported_parameter"],
        [await refused(limited), openai.RateLimitError, 429, "rate_limited"],
        [await world.failure(() => client.models.retrieve("none")), openai.NotFoundError, 404, "resource_not_found"],
      ];
      for (const [error, kind, status, code] of cases) {
        assert.equal(error.constructor, kind, `${error}`);
        assert.deepEqual([error.status, error.code], [status, code]);
        assert.ok(error.requestID.startsWith("req_"));
      }
    });

    for (const status of [401, 429, 500, 529]) {
      test(`a provider's ${status} is a server error`, async () => {
        const word = world.mark();
        await world.expect({ status, error_message: `secret words ${word}` });
        const error = await refused(world.key);
        assert.ok(error instanceof openai.InternalServerError && error.status === 500, `${error}`);
        assert.ok(!JSON.stringify(error.error).includes(word));
      });
    }

    test("a gateway without its detector is unavailable", async () => {
      const broken = connect(world.organizationOfBrokenGateway(), world.BROKEN_GATEWAY);
      const error = await world.failure(() =>
        broken.chat.completions.create({ model, messages: [user("Hello.")] }),
      );
      assert.ok(error instanceof openai.InternalServerError && error.status === 503, `${error}`);
    });

    test("a retry waits as long as it is told", async () => {
      await world.expect({ status: 529, retry_after: "2" });
      await connect(world.key, world.GATEWAY, 2).chat.completions.create({ model, messages: [user("Hello.")] });
      const [first, second] = await world.requests();
      assert.ok(second.received_at_us - first.received_at_us >= 1.9e6);
    });

    test("what a provider rejects is not repeated", async () => {
      await world.expect({ status: 400 });
      const patient = connect(world.key, world.GATEWAY, 2);
      const error = await world.failure(() =>
        patient.chat.completions.create({ model, messages: [user("Hello.")] }),
      );
      assert.equal(error.headers.get("x-should-retry"), "false");
      assert.equal((await world.requests()).length, 1);
    });

    for (const fault of world.STREAM_FAULTS) {
      test(`a stream that fails raises: ${Object.keys(fault)}`, async () => {
        await world.expect({ event_count: 8, ...fault });
        const error = await world.failure(async () => {
          for await (const _ of await create("Count.", { stream: true }));
        });
        assert.ok(error instanceof openai.APIError, `${error}`);
        assert.equal(error.code, "inference_upstream_failure");
      });
    }

    test("many streams at once", async () => {
      const one = async () => {
        const word = `${world.mark()}end`;
        let text = "";
        for await (const chunk of await create(`Say ${word}.`, { stream: true })) {
          text += chunk.choices[0]?.delta.content ?? "";
        }
        assert.ok(text.includes(word));
      };
      const ended = await Promise.allSettled(Array.from({ length: world.STREAMS }, one));
      assert.deepEqual(ended.filter((stream) => stream.status === "rejected"), []);
    });

    test("leaving a stream stops the provider", async () => {
      await world.expect(world.STALLING);
      for await (const chunk of await create("Count.", { stream: true })) {
        if (chunk.choices[0]?.delta.content) break;
      }
      const [request] = await world.requests(1);
      assert.ok(request.closed_by_peer_at_us && !request.finished);
    });
  });
}

test("a refusal is one in its own place", async () => {
  const refusal = "I am sorry, I cannot help with that.";
  const asked = {
    model: world.MODELS[1],
    messages: [user("Do it.")],
    response_format: zodResponseFormat(z.object({ city: z.string() }), "weather"),
  };
  const head = { id: "c", created: 1, model: "m" };
  const message = { role: "assistant", content: null, refusal };
  const whole = { ...head, object: "chat.completion", choices: [{ index: 0, message, finish_reason: "stop" }] };
  await world.expect({ raw_body: JSON.stringify(whole), content_type: "application/json" });
  const reply = (await connect().chat.completions.parse(asked)).choices[0].message;
  assert.deepEqual([reply.refusal, reply.content, reply.parsed], [refusal, refusal, null]);

  const deltas = [{ role: "assistant", content: null, refusal: "" }, { refusal }, {}];
  const lines = deltas.map((delta, at) => {
    const choice = { index: 0, delta, finish_reason: at === 2 ? "stop" : null };
    return `data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", choices: [choice] })}\n\n`;
  });
  await world.expect({ raw_body: `${lines.join("")}data: [DONE]\n\n`, content_type: "text/event-stream" });
  const stream = connect().chat.completions.stream(asked);
  const seen = [];
  stream.on("refusal.delta", ({ delta }) => seen.push(delta)).on("refusal.done", ({ refusal }) => seen.push(refusal));
  const streamed = (await stream.finalChatCompletion()).choices[0].message;
  assert.equal(seen.at(-1), refusal);
  assert.equal(seen.slice(0, -1).join(""), refusal);
  assert.deepEqual([streamed.refusal, streamed.parsed ?? null], [refusal, null]);
});

test("models", async () => {
  const listed = [];
  for await (const model of connect().models.list()) listed.push(model.id);
  world.MODELS.forEach((model) => assert.ok(listed.includes(model)));
});
