// The fake provider's control side, fresh organizations, and what the suites of every Node SDK share.
//
// Tests run one after the other: the fake's script and journal belong to the test that runs.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { afterEach, beforeEach } from "node:test";

const { SDK_BROKEN_CONFIG, SDK_BROKEN_DATA, SDK_CONFIG, SDK_FAKE, SDK_PROGRAM } = process.env;
export const GATEWAY = process.env.SDK_GATEWAY;
export const BROKEN_GATEWAY = process.env.SDK_BROKEN_GATEWAY;

// One model of each provider kind, both with tools and images.
export const MODELS = ["alpha-sonnet-4-6", "beta-5.4"];
// A model that nobody serves any more.
export const RETIRED_MODEL = "alpha-retired";
// Milliseconds for any single call; the fake answers at once, a busy machine does not.
export const TIMEOUT_MS = 30_000;
// Streams at once: more than any pool or connection limit is by default.
export const STREAMS = 200;
// A reply that stops in the middle. Its words can be nobody's, so that none is held back to be judged.
export const STALLING = { text_chunks: Array(12).fill("well, "), stall_after_events: 9 };
// Content of a patient that no provider may ever see.
export const SSN = "536-22-8714";
// A picture of one pixel.
export const PIXEL_PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
// A document of one empty page.
export const PAGE_PDF = Buffer.from(
  "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n" +
    "3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n",
).toString("base64");
// More than the 32 MiB that the inference surfaces read.
export const TOO_LONG_CHARS = 33 * 1024 * 1024;
export const WEATHER_SCHEMA = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};
// What a stream may suffer.
export const STREAM_FAULTS = [
  { error_event_after_events: 3 },
  { close_after_events: 4 },
  { no_terminal_event: true },
  { malformed_after_events: 3 },
];
// More requests in a minute than the suites send.
const UNLIMITED_PER_MINUTE = "100000";

export const key = organization();

let marks = 0;

/** A word that no other test says. Letters only, so that no detector takes it for anything. */
export function mark() {
  let number = marks++;
  let letters = "";
  for (let place = 0; place < 4; place++) {
    letters += String.fromCharCode("a".charCodeAt(0) + (number % 26));
    number = Math.floor(number / 26);
  }
  return `quokka${letters}`;
}

/** The key of a fresh organization; `options` as `admin bootstrap` takes them. */
export function organization(...options) {
  return bootstrap(process.env, SDK_CONFIG, options);
}

/** A key at the gateway whose detector is missing. */
export function organizationOfBrokenGateway() {
  return bootstrap({ ...process.env, SVC_DATA_DIR: SDK_BROKEN_DATA }, SDK_BROKEN_CONFIG, []);
}

function bootstrap(env, config, options) {
  const limit = options.includes("--per-minute") ? [] : ["--per-minute", UNLIMITED_PER_MINUTE];
  const command = ["--config", config, "admin", "bootstrap", "--json", ...options, ...limit];
  return JSON.parse(execFileSync(SDK_PROGRAM, command, { env, timeout: TIMEOUT_MS, stdio: "pipe" })).api_key;
}

export const weather = (city) => `sunny in ${city}`;

/** The model calls the tool `weather` once for each city, all at once. */
export const calls = (...cities) => ({ tools: cities.map((city) => ({ name: "weather", input: { city } })) });

/** What the coming requests get, one behaviour each; the others get an ordinary answer. */
export async function expect(...behaviours) {
  await control("/_control/script", { method: "POST", body: JSON.stringify({ behaviours }) });
}

/** Every request of this test, once so many of them have ended. */
export async function requests(ended = 0) {
  return (await control(`/_control/requests?await_ended=${ended}`)).requests;
}

/** The body of each request, as text. */
export async function bodies() {
  return (await requests()).map((request) => JSON.stringify(request.body));
}

async function control(path, options = {}) {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(SDK_FAKE + path, { headers, signal: AbortSignal.timeout(TIMEOUT_MS), ...options });
  assert.ok(answer.ok, `${path}: ${answer.status}`);
  return answer.status === 204 ? undefined : answer.json();
}

/** A clean fake before every test, and after it the checks that hold whatever was tested. */
export function surround() {
  const clear = async () => {
    await control("/_control/script", { method: "DELETE" });
    await control("/_control/requests", { method: "DELETE" });
  };
  beforeEach(clear);
  afterEach(async () => {
    const seen = await requests();
    const { waiting } = await control("/_control/script");
    await clear();
    if (seen.some((request) => request.status !== 200 || !request.finished)) await closeCircuits();
    assert.equal(waiting, 0, "behaviours were ordered and never asked for");
    seen.forEach(nothingPrivate);
  });
}

/** Neither content of a patient, nor the caller's key, nor what its SDK says about itself is sent on. */
function nothingPrivate(request) {
  const sent = JSON.stringify(request);
  assert.ok(!sent.includes(SSN) && !sent.includes(key));
  const names = request.headers.map(([name]) => name.toLowerCase());
  assert.ok(!names.some((name) => name.startsWith("x-stainless") || name === "x-api-key"), names.join());
}

/** Ordered failures must not add up over tests until the gateway avoids the provider: a success forgets them. */
async function closeCircuits() {
  for (const model of MODELS) {
    const answer = await fetch(`${GATEWAY}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model, messages: [{ role: "user", content: "Are you well?" }] }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    assert.equal(answer.status, 200, await answer.text());
  }
}

/** The error of a call that must fail. */
export async function failure(call) {
  try {
    await call();
  } catch (error) {
    return error;
  }
  assert.fail("the call succeeded");
}

/** Whether the words stand in the text one behind the other. */
export function inOrder(text, words) {
  const places = words.map((word) => text.indexOf(word));
  assert.ok(!places.includes(-1), text);
  assert.deepEqual(places, [...places].sort((one, next) => one - next));
}
