// The official Anthropic SDK for Node against the messages surface, for both provider kinds.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import Anthropic, * as anthropic from "@anthropic-ai/sdk";
import { zodOutputFormat } from "@anthropic-ai/sdk/helpers/zod";
import { z } from "zod";
import * as world from "./world.js";

const TOOL = { name: "weather", input_schema: world.WEATHER_SCHEMA };

function connect(apiKey = world.key, baseURL = world.GATEWAY, maxRetries = 0) {
  return new Anthropic({ apiKey, baseURL, timeout: world.TIMEOUT_MS, maxRetries });
}

const user = (content) => ({ role: "user", content });
const textOf = (message) =>
  message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
const callsOf = (message) => message.content.filter((block) => block.type === "tool_use");

world.surround();

for (const model of world.MODELS) {
  describe(`anthropic with ${model}`, () => {
    const client = connect();
    const asked = (content, more = {}) => ({ model, max_tokens: 200, messages: [user(content)], ...more });
    const refused = async (key, content = "Hello.", more = {}) =>
      world.failure(() => connect(key).messages.create(asked(content, more)));

    test("plain", async () => {
      const word = world.mark();
      const reply = await client.messages.create(asked(`Say ${word}.`));
      assert.equal(reply.stop_reason, "end_turn");
      assert.ok(textOf(reply).includes(word));
      assert.ok(reply.usage.input_tokens > 0 && reply.usage.output_tokens > 0);
      assert.ok(reply._request_id.startsWith("req_"));
    });

    test("several turns reach the provider in order", async () => {
      const words = Array.from({ length: 4 }, world.mark);
      const messages = [user(words[1]), { role: "assistant", content: words[2] }, user(words[3])];
      await client.messages.create(asked("", { system: words[0], messages }));
      const [body] = (await world.requests()).map((request) => request.body);
      world.inOrder(JSON.stringify([body.system, body.messages]), words);
    });

    for (const cities of [["Oslo"], ["Oslo", "Rome", "Lima"]]) {
      test(`tools and their results: ${cities.length}`, async () => {
        await world.expect(world.calls(...cities));
        const messages = [user("What is the weather?")];
        const reply = await client.messages.create(asked("", { messages, tools: [TOOL] }));
        assert.equal(reply.stop_reason, "tool_use");
        const calls = callsOf(reply);
        assert.deepEqual(calls.map((call) => call.input.city), cities);
        const results = calls.map((call) => ({
          type: "tool_result",
          tool_use_id: call.id,
          content: world.weather(call.input.city),
        }));
        messages.push({ role: "assistant", content: reply.content }, user(results));
        const last = await client.messages.create(asked("", { messages, tools: [TOOL] }));
        cities.forEach((city) => assert.ok(textOf(last).includes(world.weather(city))));
      });
    }

    test("stream", async () => {
      const word = world.mark();
      const kinds = [];
      for await (const event of await client.messages.create(asked(`Say ${word}.`, { stream: true }))) {
        kinds.push(event.type);
      }
      assert.deepEqual([kinds[0], ...kinds.slice(-2)], ["message_start", "message_delta", "message_stop"]);
    });

    test("stream helper with tools", async () => {
      await world.expect({ text: "Let me look.", ...world.calls("Oslo", "Rome") });
      const reply = await client.messages.stream(asked("Weather?", { tools: [TOOL] })).finalMessage();
      assert.equal(textOf(reply), "Let me look.");
      assert.deepEqual(callsOf(reply).map((call) => call.input.city), ["Oslo", "Rome"]);
    });

    test("tokens are counted", async () => {
      const word = world.mark();
      const said = (content) => ({ model, system: "Be brief.", messages: [user(content)], tools: [TOOL] });
      const plain = await client.messages.countTokens(said(`Say ${word}.`));
      const longer = await client.messages.countTokens(said(`Say ${word} to ${world.SSN}. `.repeat(20)));
      const beta = await client.beta.messages.countTokens(said(`Say ${word}.`));
      assert.ok(plain.input_tokens > 0 && plain.input_tokens < longer.input_tokens);
      assert.equal(beta.input_tokens, plain.input_tokens);
      const sent = await world.requests();
      // The other provider kind cannot count; the gateway estimates, and nobody else hears of it.
      const paths = model === world.MODELS[0] ? Array(3).fill("/v1/messages/count_tokens") : [];
      assert.deepEqual(sent.map((request) => request.path), paths);
      const error = await world.failure(() => connect("svc_api_live_unknown").messages.countTokens(said("Hello.")));
      assert.ok(error instanceof anthropic.AuthenticationError, `${error}`);
    });

    test("image", async () => {
      const source = { type: "base64", media_type: "image/png", data: world.PIXEL_PNG };
      await client.messages.create(asked([{ type: "image", source }, { type: "text", text: "What is this?" }]));
      assert.ok((await world.bodies())[0].includes(world.PIXEL_PNG));
    });

    test("document", async () => {
      const source = { type: "base64", media_type: "application/pdf", data: world.PAGE_PDF };
      await client.messages.create(asked([{ type: "document", source }, { type: "text", text: "What is this?" }]));
      assert.ok((await world.bodies())[0].includes(world.PAGE_PDF));
    });

    test("structured output", async () => {
      const schema = z.object({ city: z.string(), degrees: z.number() });
      const format = zodOutputFormat(schema);
      const reply = await client.messages.parse(asked("Weather?", { output_config: { format } }));
      assert.equal(typeof reply.parsed_output.city, "string");
    });

    test("patient data is replaced", async () => {
      await client.messages.create(asked(`My SSN is ${world.SSN}.`));
      assert.ok((await world.bodies())[0].includes("[SSN_1]"));
    });

    test("refusals raise the right class", async () => {
      const limited = world.organization("--per-minute", "1");
      await connect(limited).messages.create(asked("Hello."));
      const blocking = world.organization("--phi-mode", "block");
      const unscoped = world.organization("--scopes", "control:read");
      const retired = { model: world.RETIRED_MODEL };
      const tooLong = "a".repeat(world.TOO_LONG_CHARS);
      const cases = [
        [await refused(world.key, "Hello.", retired), anthropic.APIError, 410, "MODEL_RETIRED"],
        [await refused(world.key, tooLong), anthropic.ContentTooLargeError, 413, "PAYLOAD_TOO_LARGE"],
        [await refused("svc_api_live_unknown"), anthropic.AuthenticationError, 401, "INVALID_API_KEY"],
        [await refused(world.organization("--no-baa")), anthropic.PaymentRequiredError, 402, "BAA_REQUIRED"],
        [await refused(unscoped), anthropic.PermissionDeniedError, 403, "MISSING_SCOPE"],
        [await refused(blocking, `SSN ${world.SSN}`), anthropic.PermissionDeniedError, 403, "PHI_BLOCKED"],
        [await refused(world.key, "Hello.", { max_tokens: 0 }), anthropic.UnprocessableEntityError, 422, "VALIDATION_FAILED"],
        [await refused(world.key, "Hello.", { store: true }), anthropic.BadRequestError, 400, "UNSUPPORTED_PARAMETER"],
        [await refused(limited), anthropic.RateLimitError, 429, "RATE_LIMITED"],
        [await world.failure(() => client.models.retrieve("none")), anthropic.NotFoundError, 404, "RESOURCE_NOT_FOUND"],
      ];
      for (const [error, kind, status, code] of cases) {
        assert.equal(error.constructor, kind, `${error}`);
        assert.deepEqual([error.status, error.error.error.code], [status, code]);
        assert.ok(error.requestID.startsWith("req_"));
      }
    });

    for (const status of [401, 429, 500, 529]) {
      test(`a provider's ${status} is a server error`, async () => {
        const word = world.mark();
        await world.expect({ status, error_message: `secret words ${word}` });
        const error = await refused(world.key);
        assert.ok(error instanceof anthropic.InternalServerError && error.status === 502, `${error}`);
        assert.ok(!JSON.stringify(error.error).includes(word));
      });
    }

    test("a gateway without its detector is unavailable", async () => {
      const broken = connect(world.organizationOfBrokenGateway(), world.BROKEN_GATEWAY);
      const error = await world.failure(() => broken.messages.create(asked("Hello.")));
      assert.ok(error instanceof anthropic.ServiceUnavailableError && error.status === 503, `${error}`);
    });

    test("a retry waits as long as it is told", async () => {
      await world.expect({ status: 529, retry_after: "2" });
      await connect(world.key, world.GATEWAY, 2).messages.create(asked("Hello."));
      const [first, second] = await world.requests();
      assert.ok(second.received_at_us - first.received_at_us >= 1.9e6);
    });

    test("what a provider rejects is not repeated", async () => {
      await world.expect({ status: 400 });
      const patient = connect(world.key, world.GATEWAY, 2);
      const error = await world.failure(() => patient.messages.create(asked("Hello.")));
      assert.equal(error.headers.get("x-should-retry"), "false");
      assert.equal((await world.requests()).length, 1);
    });

    for (const fault of world.STREAM_FAULTS) {
      test(`a stream that fails raises: ${Object.keys(fault)}`, async () => {
        await world.expect({ event_count: 8, ...fault });
        const error = await world.failure(() => client.messages.stream(asked("Count.")).finalMessage());
        assert.ok(error instanceof anthropic.APIError, `${error}`);
        assert.equal(error.error.error.code, "INFERENCE_UPSTREAM_FAILURE");
      });
    }

    test("many streams at once", async () => {
      const one = async () => {
        const word = `${world.mark()}end`;
        assert.ok(textOf(await client.messages.stream(asked(`Say ${word}.`)).finalMessage()).includes(word));
      };
      const ended = await Promise.allSettled(Array.from({ length: world.STREAMS }, one));
      assert.deepEqual(ended.filter((stream) => stream.status === "rejected"), []);
    });

    test("leaving a stream stops the provider", async () => {
      await world.expect(world.STALLING);
      for await (const event of await client.messages.create(asked("Count.", { stream: true }))) {
        if (event.type === "content_block_delta") break;
      }
      const [request] = await world.requests(1);
      assert.ok(request.closed_by_peer_at_us && !request.finished);
    });
  });
}

test("models", async () => {
  const listed = [];
  for await (const model of connect().models.list()) listed.push(model.id);
  world.MODELS.forEach((model) => assert.ok(listed.includes(model)));
  const model = await connect().models.retrieve(world.MODELS[0]);
  assert.equal(model.lifecycle, "active");
  assert.ok(model.max_input_tokens > model.max_tokens && model.max_tokens > 0);
  assert.deepEqual([model.retires_at, model.deprecated_at, model.capabilities, model.line], Array(4).fill(null));
});
