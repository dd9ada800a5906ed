// A gateway's organization with an agent and an application, and its owner's browser: forms over plain HTTP, as a browser
// without scripts sends them.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";

const { SDK_CONFIG, SDK_PROGRAM } = process.env;
export const GATEWAY = process.env.SDK_GATEWAY;
export const REDIRECT = "https://carenav.example/cb?tenant=1";
// For a library that takes the query off the address that it was called at.
export const PLAIN_REDIRECT = "https://carenav.example/cb";
export const DETAILS = [{ type: "svc_agent_access", actions: ["chat"], max_tokens: 64 }];
const PASSWORD = "a sentence nobody guesses";

function bootstrap() {
  const printed = execFileSync(SDK_PROGRAM, ["admin", "bootstrap", "--json", "--config", SDK_CONFIG], {
    encoding: "utf8",
  });
  return JSON.parse(printed);
}

async function post(key, path, body) {
  const answer = await fetch(GATEWAY + path, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const { data, error } = await answer.json();
  assert.equal(answer.status, 201, JSON.stringify(error));
  return data;
}

// An organization, an agent that may speak, an application of this type, and the owner's browser.
export async function scene(type) {
  const organization = bootstrap();
  const key = organization.api_key;
  const { agent } = await post(key, "/v1/agents", { name: "Intake", scope_grants: [{ scope: "ai:chat" }] });
  const redirect_uris = [REDIRECT, PLAIN_REDIRECT];
  const application = await post(key, "/v1/oauth/applications", { name: "CareNav", type, redirect_uris });
  const browser = new Browser();
  await browser.accept(organization.invitation_url);
  return { key, agentId: agent[0].id, application, browser };
}

// What a chat with this token is answered.
export async function chat(token) {
  return fetch(`${GATEWAY}/v1/ai/chat`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ message: "Hello.", stream: false }),
  });
}

const ENTITIES = { "&#38;": "&", "&#60;": "<", "&#62;": ">", "&#34;": '"', "&#39;": "'" };

class Browser {
  #cookies = new Map();

  async #send(url, options = {}) {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = { ...options.headers, ...(cookie ? { cookie } : {}) };
    const answer = await fetch(url, { ...options, headers, redirect: "manual" });
    for (const line of answer.headers.getSetCookie()) {
      const [name, value] = line.split(";")[0].split("=");
      this.#cookies.set(name, value);
    }
    return answer;
  }

  // Sends the form of a page with its hidden fields and these.
  async #submit(page, action, fields) {
    const form = page.split(`action="${action}"`)[1].split("</form>")[0];
    const body = new URLSearchParams();
    for (const [, name, value] of form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)) {
      body.append(name, value.replace(/&#\d+;/g, (entity) => ENTITIES[entity]));
    }
    for (const [name, value] of Object.entries(fields)) body.append(name, value);
    return this.#send(GATEWAY + action, { method: "POST", body });
  }

  async accept(invitation) {
    const page = await (await this.#send(invitation)).text();
    const action = new URL(invitation).pathname;
    const done = await this.#submit(page, action, { password: PASSWORD, again: PASSWORD });
    assert.equal(done.status, 303);
  }

  // Follows the application's link, decides, and comes back with the address that the application is called at.
  async decide(url, decision = "allow") {
    const answer = await this.#send(url);
    const page = await answer.text();
    assert.equal(answer.status, 200, page);
    const done = await this.#submit(page, "/ui/consent", { decision });
    assert.equal(done.status, 303, await done.text());
    return new URL(done.headers.get("location"));
  }
}
