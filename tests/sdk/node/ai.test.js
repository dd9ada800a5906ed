// The Vercel AI SDK over both surfaces, for both provider kinds.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { APICallError, Output, generateText, isStepCount, streamText, tool } from "ai";
import { z } from "zod";
import * as world from "./world.js";

const baseURL = `${world.GATEWAY}/v1`;
const SURFACES = {
  // Without the flag a schema is not sent, only the wish for some JSON, which kind A has no way to grant.
  "chat completions": (apiKey) =>
    createOpenAICompatible({ name: "svc", baseURL, apiKey, supportsStructuredOutputs: true }),
  messages: (apiKey) => createAnthropic({ baseURL, apiKey }),
};
const WEATHER = tool({
  description: "The weather in a city.",
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => world.weather(city),
});

world.surround();

for (const [surface, connect] of Object.entries(SURFACES)) {
  for (const id of world.MODELS) {
    describe(`ai over ${surface} with ${id}`, () => {
      const asked = (prompt, more = {}) => ({
        model: connect(world.key)(id),
        prompt,
        maxRetries: 0,
        maxOutputTokens: 200,
        abortSignal: AbortSignal.timeout(world.TIMEOUT_MS),
        ...more,
      });

      test("plain", async () => {
        const word = world.mark();
        const reply = await generateText(asked(`Say ${word}.`));
        assert.equal(reply.finishReason, "stop");
        assert.ok(reply.text.includes(word));
        assert.ok(reply.usage.inputTokens > 0 && reply.usage.outputTokens > 0);
      });

      test("several turns reach the provider in order", async () => {
        const words = Array.from({ length: 4 }, world.mark);
        const messages = [
          { role: "user", content: words[1] },
          { role: "assistant", content: words[2] },
          { role: "user", content: words[3] },
        ];
        await generateText(asked(undefined, { system: words[0], messages }));
        const [body] = (await world.requests()).map((request) => request.body);
        world.inOrder(JSON.stringify([body.system, body.messages]), words);
      });

      for (const cities of [["Oslo"], ["Oslo", "Rome"]]) {
        test(`tools and their results: ${cities.length}`, async () => {
          await world.expect(world.calls(...cities));
          const more = { tools: { weather: WEATHER }, stopWhen: isStepCount(3) };
          const reply = await generateText(asked("What is the weather?", more));
          assert.equal(reply.steps.length, 2);
          cities.forEach((city) => assert.ok(reply.text.includes(world.weather(city))));
        });
      }

      test("stream with tools", async () => {
        await world.expect(world.calls("Oslo", "Rome"));
        const more = { tools: { weather: WEATHER }, stopWhen: isStepCount(3) };
        const stream = streamText(asked("What is the weather?", more));
        let text = "";
        for await (const piece of stream.textStream) text += piece;
        assert.ok(text.includes("sunny in Oslo") && text.includes("sunny in Rome"));
        assert.equal(await stream.finishReason, "stop");
      });

      test("image", async () => {
        const image = { type: "image", image: world.PIXEL_PNG, mediaType: "image/png" };
        const content = [{ type: "text", text: "What is this?" }, image];
        await generateText(asked(undefined, { messages: [{ role: "user", content }] }));
        assert.ok((await world.bodies())[0].includes(world.PIXEL_PNG));
      });

      test("document", async () => {
        const page = { type: "file", data: world.PAGE_PDF, mediaType: "application/pdf", filename: "page.pdf" };
        const content = [{ type: "text", text: "What is this?" }, page];
        await generateText(asked(undefined, { messages: [{ role: "user", content }] }));
        assert.ok((await world.bodies())[0].includes(world.PAGE_PDF));
      });

      test("structured output", async () => {
        const output = Output.object({ schema: z.object({ city: z.string(), degrees: z.number() }) });
        const reply = await generateText(asked("Weather?", { output }));
        assert.equal(typeof reply.output.city, "string");
      });

      test("patient data is replaced", async () => {
        await generateText(asked(`My SSN is ${world.SSN}.`));
        assert.ok((await world.bodies())[0].includes("[SSN_1]"));
      });

      test("errors say their status and reason", async () => {
        const blocking = world.organization("--phi-mode", "block");
        const onChat = surface === "chat completions";
        const cases = [
          ["svc_api_live_unknown", 401],
          [world.organization("--no-baa"), onChat ? 403 : 402],
          [blocking, onChat ? 400 : 403],
        ];
        for (const [key, status] of cases) {
          const request = asked(`My SSN is ${world.SSN}.`, { model: connect(key)(id) });
          const error = await world.failure(() => generateText(request));
          assert.ok(APICallError.isInstance(error), `${error}`);
          assert.equal(error.statusCode, status);
          // What the gateway says, not the words of a status line.
          assert.equal(error.message, JSON.parse(error.responseBody).error.message);
        }
      });

      test("a retry succeeds", async () => {
        await world.expect({ status: 500, retry_after: "1" });
        assert.ok((await generateText(asked("Hello.", { maxRetries: 2 }))).text);
        assert.equal((await world.requests()).length, 2);
      });

      for (const fault of world.STREAM_FAULTS) {
        test(`a stream that fails says so: ${Object.keys(fault)}`, async () => {
          await world.expect({ event_count: 8, ...fault });
          const errors = [];
          const stream = streamText(asked("Count.", { onError: ({ error }) => errors.push(error) }));
          const kinds = [];
          for await (const part of stream.fullStream) kinds.push(part.type);
          assert.ok(kinds.includes("error"), kinds.join());
          assert.equal(errors.length, 1);
        });
      }

      test("leaving a stream stops the provider", async () => {
        await world.expect(world.STALLING);
        const leaving = new AbortController();
        const stream = streamText(asked("Count.", { abortSignal: leaving.signal }));
        for await (const _ of stream.textStream) leaving.abort();
        const [request] = await world.requests(1);
        assert.ok(request.closed_by_peer_at_us && !request.finished);
      });
    });
  }
}
