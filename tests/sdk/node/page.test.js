// The examples of docs/sdks.md, run as their readers run them, against this suite's gateway.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { promisify } from "node:util";
import * as world from "./world.js";

const ADDRESS = "http://127.0.0.1:8080";
const PAGE = readFileSync(new URL("../../../docs/sdks.md", import.meta.url), "utf8");
const EXAMPLES = [...PAGE.matchAll(/^### ([^\n]+)\n\n```js\n(.+?)^```$/gms)];

world.surround();

test("the page has an example for each SDK", () => {
  assert.deepEqual(
    EXAMPLES.map(([, name]) => name),
    ["@anthropic-ai/sdk", "openai (JavaScript)", "@openai/agents", "Vercel AI SDK"],
  );
});

for (const [, name, code] of EXAMPLES) {
  test(`the example for ${name}`, async () => {
    assert.ok(code.includes(ADDRESS));
    const program = ["--input-type=module", "--eval", code.replaceAll(ADDRESS, world.GATEWAY)];
    const { stdout } = await promisify(execFile)(process.execPath, program, {
      cwd: import.meta.dirname,
      env: { ...process.env, SVC_API_KEY: world.key },
      timeout: world.TIMEOUT_MS,
    });
    const lines = stdout.trim().split("\n");
    assert.equal(lines.length, (await world.requests()).length);
    for (const line of lines) assert.ok(line.includes("Good morning"), line);
  });
}
