// The OpenAI Agents SDK over chat completions, for both provider kinds. It sends its replies back in a shape of its own.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Agent, OpenAIChatCompletionsModel, run, setTracingDisabled, tool, user } from "@openai/agents";
import OpenAI from "openai";
import { z } from "zod";
import * as world from "./world.js";

setTracingDisabled(true);
const client = new OpenAI({ baseURL: `${world.GATEWAY}/v1`, apiKey: world.key, maxRetries: 0 });
const WEATHER = tool({
  name: "weather",
  description: "The weather in a city.",
  parameters: z.object({ city: z.string() }),
  execute: async ({ city }) => world.weather(city),
});

world.surround();

for (const id of world.MODELS) {
  for (const stream of [true, false]) {
    describe(`@openai/agents with ${id}, ${stream ? "streamed" : "unstreamed"}`, () => {
      const model = new OpenAIChatCompletionsModel(client, id);
      const agent = new Agent({ name: "Ward clerk", instructions: "Answer.", model, tools: [WEATHER] });
      const answer = async (input) => {
        const signal = AbortSignal.timeout(world.TIMEOUT_MS);
        const result = await run(agent, input, { stream, signal });
        if (stream) await result.completed;
        return result;
      };

      test("several turns", async () => {
        const first = await answer(`Say ${world.mark()}.`);
        const word = world.mark();
        const second = await answer([...first.history, user(`Say ${word}.`)]);
        assert.ok(second.finalOutput.includes(word));
        assert.ok((await world.bodies())[1].includes(first.finalOutput));
      });

      test("text before a tool is called", async () => {
        await world.expect({ text_chunks: ["I shall look."], ...world.calls("Oslo") });
        const result = await answer("What is the weather?");
        assert.ok(result.finalOutput.includes(world.weather("Oslo")));
        assert.equal((await world.requests()).length, 2);
      });
    });
  }
}
