// What people do at the dashboard, in a browser.

import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { after, before, test } from "node:test";

import Provider from "oidc-provider";

import { GATEWAY, PASSWORD, browser, look, organization, signedIn, watch } from "./world.js";

let open;
let owner;
let page;

before(async () => {
  open = await browser();
  owner = organization();
  page = await signedIn(open, owner);
});

after(() => open?.close());

async function ask(path, init = {}) {
  const headers = { authorization: `Bearer ${owner.api_key}`, "content-type": "application/json" };
  const answer = await fetch(`${GATEWAY}${path}`, { headers, ...init });
  return { status: answer.status, body: await answer.json() };
}

test("whoever is not signed in is asked to, and comes back to where they wanted to go", async () => {
  const context = await open.newContext();
  const stranger = await context.newPage();
  watch(stranger);
  await stranger.goto(`${GATEWAY}/ui/keys`);
  await look(stranger, "sign-in");
  await stranger.getByLabel("E-mail address").fill(owner.email);
  await stranger.getByLabel("Password").fill(PASSWORD);
  await stranger.getByRole("button", { name: "Sign in" }).click();
  await stranger.waitForURL(`${GATEWAY}/ui/keys`);
  await context.close();
});

test("an OpenID provider vouches for somebody who was invited", async () => {
  const OPENID = process.env.SDK_OPENID;
  // Of an organization of their own: a first sign-in there ends the account's other sessions.
  const invited = organization();
  const provider = new Provider(OPENID, {
    clients: [
      {
        client_id: "svc-gateway",
        token_endpoint_auth_method: "none",
        redirect_uris: [`${GATEWAY}/ui/login/openid/callback`],
      },
    ],
    claims: { email: ["email", "email_verified"] },
    cookies: { keys: ["of this test alone"] },
    // Its own pages ask for a name and take any password.
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, email: id, email_verified: true }) }),
  });
  const server = provider.listen(new URL(OPENID).port, "127.0.0.1");
  const context = await open.newContext();
  try {
    const person = await context.newPage();
    watch(person);
    await person.goto(`${GATEWAY}/ui/audit`);
    await person.getByRole("link", { name: "Sign in with OpenID" }).click();
    await person.getByPlaceholder("Enter any login").fill(invited.email);
    await person.getByPlaceholder("and password").fill("anything");
    await person.getByRole("button", { name: "Sign-in" }).click();
    await person.getByRole("button", { name: "Continue" }).click();
    await person.waitForURL(`${GATEWAY}/ui/audit`);
    await person.getByLabel("Event").fill("user.signed_in");
    await person.getByLabel("Event").press("Tab");
    await person.waitForURL(/event=user.signed_in/);
    await person.locator("#found a").filter({ hasText: /Z|UTC|:/ }).first().click();
    await person.getByText("openid").first().waitFor();
  } finally {
    await context.close();
    server.closeAllConnections();
    server.close();
  }
});

test("the audit log is found anew without leaving the page", async () => {
  await page.goto(`${GATEWAY}/ui/audit`);
  await page.evaluate(() => (window.stayed = true));
  await page.getByLabel("Event").fill("user.signed_in");
  await page.getByLabel("Event").press("Tab");
  await page.waitForURL(/event=user.signed_in/);
  await page.getByRole("status").filter({ hasText: "shown" }).waitFor();
  const events = await page.locator("#found tbody code:first-child").allTextContents();
  assert.ok(events.length > 0);
  assert.equal(await page.evaluate(() => window.stayed), true, "the page was not loaded anew");
  // Of what was shown nothing is kept; the path alone is, which the address shows too.
  const kept = await page.evaluate(() => [...Object.keys(localStorage), ...Object.keys(sessionStorage)]);
  assert.deepEqual(kept, ["htmx-current-path-for-history"]);
  await look(page, "audit-found");
  // What is refused is shown in place of the content.
  await page.getByLabel("Event").fill("No Such Name");
  await page.getByLabel("Event").press("Tab");
  await page.getByText("Something has to be corrected.").waitFor();
  assert.equal(await page.evaluate(() => window.stayed), true);
  await page.goto(`${GATEWAY}/ui/audit?event=api_key.*`);
  // A session that is over leads to the sign-in page, not into the table.
  await page.context().clearCookies({ name: "svc_session" });
  await page.getByLabel("Event").fill("inference.completed");
  await page.getByLabel("Event").press("Tab");
  await page.waitForURL(/\/ui\/login\?next=/);
  await page.getByLabel("E-mail address").fill(owner.email);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL(/event=inference.completed/);
});

test("a key is made, shown once, works, and is revoked", async () => {
  await page.goto(`${GATEWAY}/ui/keys`);
  await page.getByLabel("Name").fill("From the browser");
  await page.getByLabel("ai:chat").check();
  await page.getByRole("button", { name: "Create the key" }).click();
  const key = (await page.locator("#new-key").textContent()).trim();
  await look(page, "keys");
  const models = await fetch(`${GATEWAY}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
  assert.equal(models.status, 200);
  await page.goto(`${GATEWAY}/ui/keys`);
  assert.equal(await page.locator("#new-key").count(), 0);
  await page.locator("summary", { hasText: "Revoke From the browser" }).click();
  await page.getByRole("button", { name: "Yes, revoke From the browser" }).click();
  await page.getByText("It is revoked.").waitFor();
});

test("every page of the menu opens, alone with the keyboard, on a phone and in the dark", async () => {
  const links = await page.locator("nav.menu a").evaluateAll((all) => all.map((a) => a.getAttribute("href")));
  assert.ok(links.length >= 12, links.join(" "));
  for (const link of links) {
    await page.goto(`${GATEWAY}${link}`);
    const name = link.replace("/ui", "").replaceAll("/", "-").replace(/^-/, "") || "overview";
    await look(page, name);
    await page.setViewportSize({ width: 390, height: 800 });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= 390, `${link} is ${wide} pixels wide on a phone`);
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.className), "skip", link);
  }
  await page.emulateMedia({ colorScheme: "dark" });
  for (const link of links) {
    await page.goto(`${GATEWAY}${link}`);
    await look(page, `dark${link.replace("/ui", "").replaceAll("/", "-")}`);
  }
  await page.emulateMedia({ colorScheme: "light" });
});

test("an inbound webhook is made with a preview, and a post becomes a record", async () => {
  await page.goto(`${GATEWAY}/ui/apps`);
  await page.getByLabel("Name").fill("Registry");
  await page.getByRole("button", { name: "Create the app" }).click();
  await page.getByLabel("Key").fill("patient");
  await page.getByLabel("Fields").fill('[{"key": "mrn", "type": "string", "required": true, "phi": true}]');
  await page.getByRole("button", { name: "Save the schema" }).click();
  await page.locator("dl.facts a").click();
  await look(page, "app");
  await page.getByRole("link", { name: "New inbound webhook" }).click();
  await page.getByLabel("Name").fill("Admissions");
  await page.getByLabel("Mapping").fill("patient.number = mrn");
  await page.getByLabel("A payload to try it with").fill('{"patient": {"number": "A-17"}, "ward": "9"}');
  await page.getByRole("button", { name: "Try the payload" }).click();
  assert.match(await page.locator("#preview").textContent(), /"mrn": "A-17"/);
  await look(page, "inbound-preview");
  await page.getByRole("button", { name: "Create the webhook" }).click();
  const address = (await page.locator("#new-entrance").textContent()).trim();
  await look(page, "inbound");
  const body = JSON.stringify({ patient: { number: "A-17" } });
  const posted = await fetch(address, { method: "POST", headers: { "content-type": "application/json" }, body });
  assert.equal(posted.status, 201);
  const { data } = await posted.json();
  await page.getByRole("link", { name: "Back to the app" }).click();
  await page.getByRole("link", { name: "patient", exact: true }).click();
  await page.getByRole("link", { name: data.record_id }).click();
  await page.getByText("A-17").waitFor();
  await look(page, "record");
});

test("what was held for an endpoint is counted, and sent again", async () => {
  await page.goto(`${GATEWAY}/ui/webhooks`);
  await page.getByLabel("Address").fill("https://hooks.example.org/in");
  await page.getByLabel("record.created").check();
  await page.getByRole("button", { name: "Register the endpoint" }).click();
  assert.match(await page.locator("#new-secret").textContent(), /^whsec_/);
  await look(page, "webhook-registered");
  await page.getByRole("link", { name: "https://hooks.example.org/in" }).click();
  await page.getByRole("button", { name: "Switch off" }).click();
  await page.getByRole("button", { name: "Switch on" }).waitFor();
  const app = await ask("/v1/apps", { method: "POST", body: JSON.stringify({ name: "Held" }) });
  const entity = `/v1/apps/${app.body.data.id}/entities/visit`;
  const schema = { fields: [{ key: "ward", type: "string" }] };
  await ask(entity, { method: "PUT", body: JSON.stringify(schema) });
  const record = { fields: { ward: "9" } };
  const made = await ask(`${entity}/records`, { method: "POST", body: JSON.stringify(record) });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  await page.reload();
  await look(page, "webhook");
  await page.getByRole("link", { name: /^01/ }).first().click();
  await page.getByText("held", { exact: true }).first().waitFor();
  await look(page, "delivery");
  await page.getByRole("link", { name: /^we_/ }).click();
  await page.getByRole("button", { name: "Switch on" }).click();
  await page.getByRole("link", { name: /^01/ }).first().click();
  await page.getByRole("button", { name: "What would happen?" }).click();
  assert.match(await page.locator("#replayed").textContent(), /Nothing was sent.*1 found, 1 sent again/s);
  await page.getByRole("button", { name: "Send again" }).click();
  assert.doesNotMatch(await page.locator("#replayed").textContent(), /Nothing was sent/);
  await look(page, "replay");
});

test("a person lets an application of another origin speak with one agent", async () => {
  const arrived = [];
  const server = createServer((request, response) => {
    arrived.push(new URL(request.url, "http://127.0.0.1"));
    response.end("back at the application");
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const redirectUri = `http://127.0.0.1:${server.address().port}/cb`;
  const wanted = { name: "CareNav", publisher: "Acme Inc", type: "confidential", redirect_uris: [redirectUri] };
  const application = await ask("/v1/oauth/applications", { method: "POST", body: JSON.stringify(wanted) });
  assert.equal(application.status, 201, JSON.stringify(application.body));
  const { client_id: clientId, client_secret: secret } = application.body.data;
  const grants = [{ scope: "ai:chat" }];
  const agent = await ask("/v1/agents", { method: "POST", body: JSON.stringify({ name: "Intake", scope_grants: grants }) });
  const verifier = randomBytes(32).toString("base64url");
  const query = new URLSearchParams({
    response_type: "code",
    client_id: clientId,
    redirect_uri: redirectUri,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    agent_id: agent.body.data.agent[0].id,
    authorization_details: JSON.stringify([{ type: "svc_agent_access", actions: ["chat"] }]),
    state: "a state",
  });
  await page.goto(`${GATEWAY}/v1/oauth/authorize?${query}`);
  await page.getByText("CareNav").first().waitFor();
  await look(page, "consent");
  await page.getByRole("button", { name: "Allow" }).click();
  await page.getByText("back at the application").waitFor();
  const answer = arrived.find(({ pathname }) => pathname === "/cb").searchParams;
  assert.equal(answer.get("state"), "a state");
  const body = new URLSearchParams({ grant_type: "authorization_code", code: answer.get("code"), code_verifier: verifier });
  const basic = Buffer.from(`${clientId}:${secret}`).toString("base64");
  const headers = { authorization: `Basic ${basic}` };
  const issued = await fetch(`${GATEWAY}/v1/oauth/token`, { method: "POST", headers, body });
  assert.equal(issued.status, 200);
  assert.match((await issued.json()).access_token, /^svc_agt_/);
  server.close();
  page.wrong.length = 0;
});

test("the playground shows what was typed, what the provider received and what came back", async () => {
  await page.goto(`${GATEWAY}/ui/playground`);
  await page.getByLabel("Message").fill("The patient's SSN is 536-22-8714. Repeat it.");
  await page.getByRole("button", { name: "Send" }).click();
  const [typed, received] = await page.locator("#turn pre").allTextContents();
  assert.match(typed, /536-22-8714/);
  assert.doesNotMatch(received, /536-22-8714/);
  assert.match(received, /\[SSN_1\]/);
  await look(page, "playground");
});

test("an agreement is signed, and its document opens", async () => {
  const unsigned = organization("--no-baa");
  const signer = await signedIn(open, unsigned);
  await signer.goto(`${GATEWAY}/ui/agreement`);
  await look(signer, "baa-unsigned");
  await signer.getByLabel("Your name").fill("Zoe Example");
  await signer.getByLabel("Your title").fill("Privacy Officer");
  await signer.getByLabel("Your e-mail address").fill("zoe@clinic.example");
  await signer.getByRole("checkbox").check();
  await signer.getByRole("button", { name: "Sign the agreement" }).click();
  const [download] = await Promise.all([
    signer.waitForEvent("download"),
    signer.getByRole("link", { name: /PDF/i }).first().click(),
  ]);
  const { readFile } = await import("node:fs/promises");
  const bytes = await readFile(await download.path());
  assert.equal(bytes.subarray(0, 5).toString(), "%PDF-");
  await look(signer, "baa");
  await signer.context().close();
});

test("an application is registered, gets another secret, and is revoked for ever", async () => {
  const name = "<script>document.title = 'taken'</script>";
  await page.goto(`${GATEWAY}/ui/applications`);
  await page.getByLabel("Name").fill(name);
  await page.getByLabel("Publisher").fill("Acme");
  await page.getByLabel("Redirect addresses").fill("no address");
  await page.getByRole("button", { name: "Register the application" }).click();
  await page.getByText("Something has to be corrected.").waitFor();
  assert.equal(await page.getByLabel("Name").inputValue(), name, "what was typed is still there");
  await page.getByLabel("Redirect addresses").fill("https://carenav.example/cb");
  await page.getByRole("button", { name: "Register the application" }).click();
  const id = (await page.locator("#client-id").textContent()).trim();
  const first = (await page.locator("#client-secret").textContent()).trim();
  await look(page, "applications");
  assert.notEqual(await page.title(), "taken");
  const introspect = async (secret) => {
    const headers = { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}` };
    const answer = await fetch(`${GATEWAY}/v1/oauth/introspect`, {
      method: "POST",
      headers,
      body: new URLSearchParams({ token: "svc_agt_unknown" }),
    });
    return answer.status;
  };
  assert.equal(await introspect(first), 200);
  const row = page.getByRole("row").filter({ hasText: id });
  await row.getByRole("button", { name: /New secret/ }).click();
  const second = (await page.locator("#client-secret").textContent()).trim();
  assert.notEqual(second, first);
  assert.deepEqual([await introspect(first), await introspect(second)], [200, 200], "both for a day");
  await row.locator("summary").click();
  await row.getByRole("button", { name: /for ever/ }).click();
  await row.getByText("revoked").waitFor();
  assert.deepEqual([await introspect(first), await introspect(second)], [401, 401]);
  assert.equal(await row.getByRole("button").count(), 0, "nothing more can be done with it");
});

test("a script in a name does nothing, and a page is in nobody's frame", async () => {
  const { status } = await ask("/v1/agents", {
    method: "POST",
    body: JSON.stringify({ name: "<script>document.title = 'taken'</script>" }),
  });
  assert.equal(status, 201);
  await page.goto(`${GATEWAY}/ui/agents`);
  assert.notEqual(await page.title(), "taken");
  await page.getByText("<script>document.title = 'taken'</script>").first().waitFor();
  const framing = await (await open.newContext()).newPage();
  await framing.setContent(`<iframe src="${GATEWAY}/ui/login"></iframe>`);
  await framing.waitForTimeout(500);
  const inside = framing.frames()[1];
  assert.ok(!(await inside.content()).includes("Password"), "a page of ours was framed");
  await framing.context().close();
});
