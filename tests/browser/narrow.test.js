// Long names and small windows: what matters stays in sight.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, before, test } from "node:test";

import { GATEWAY, PASSWORD, browser, look, organization, signedIn } from "./world.js";

const LONG = "Wolfeschlegelsteinhausenbergerdorff".repeat(3).slice(0, 100);
const KEY = `k${"e".repeat(38)}y`;
const WIDTHS = [375, 768];

let open;
let owner;
let page;

before(async () => {
  open = await browser();
  owner = organization("--name", LONG);
  const command = ["admin", "create-user", "--json", "--organization", owner.organization_id];
  command.push("--role", "owner", "--name", LONG, "--email", "long@clinic.example");
  const person = JSON.parse(execFileSync(process.env.SDK_PROGRAM, command, { encoding: "utf8" }));
  page = await signedIn(open, person);
});

after(() => open?.close());

async function ask(method, path, body) {
  const headers = { authorization: `Bearer ${owner.api_key}`, "content-type": "application/json" };
  const answer = await fetch(`${GATEWAY}${path}`, { method, headers, body: JSON.stringify(body) });
  assert.ok(answer.ok, `${method} ${path}: ${answer.status}`);
  return (await answer.json()).data;
}

/** The page at a width: nothing of it is beside the window. */
async function fits(path, width, name) {
  await page.setViewportSize({ width, height: 800 });
  await page.goto(`${GATEWAY}${path}`);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= width, `${path} is ${wide} pixels wide at ${width}`);
  const button = await page.getByRole("button", { name: "Sign out" }).boundingBox();
  assert.ok(button.x >= 0 && button.x + button.width <= width, `${path} at ${width}: sign out at ${button.x}`);
  await look(page, `${name}-${width}`);
}

test("long names leave the way out in the window", async () => {
  for (const width of WIDTHS) await fits("/ui", width, "long");
});

test("what is read out alone takes no room", async () => {
  await ask("POST", "/v1/api_keys", { name: LONG, scopes: ["control:read"] });
  for (const width of [...WIDTHS, 1280]) {
    await fits("/ui/keys", width, "long-keys");
    const boxes = await page.locator(".away").evaluateAll((all) => all.map((one) => one.getBoundingClientRect().width));
    assert.ok(boxes.length > 0 && boxes.every((wide) => wide <= 1), `${width}: ${boxes}`);
  }
});

test("a record with long keys and several lines is read on a phone", async () => {
  const app = await ask("POST", "/v1/apps", { name: "Intake" });
  const fields = [{ key: KEY, type: "text" }];
  await ask("PUT", `/v1/apps/${app.id}/entities/${KEY}`, { fields });
  const entity = `/v1/apps/${app.id}/entities/${KEY}`;
  const record = await ask("POST", `${entity}/records`, { fields: { [KEY]: "first\nsecond" } });
  for (const width of WIDTHS) {
    await fits(`/ui/apps/${app.id}/records/${KEY}`, width, "long-records");
    await fits(`/ui/apps/${app.id}/records/${KEY}/${record.id}`, width, "long-record");
  }
  const value = page.locator("dl.fields dd");
  assert.equal(await value.evaluate((one) => one.innerText), "first\nsecond");
});

test("the newest day of a chart is in sight on a phone", async () => {
  for (const path of ["/ui/usage", "/ui/phi"]) {
    await fits(path, 375, `chart${path.replaceAll("/", "-")}`);
    const ends = await page.locator(".newest").first().evaluate((one) => {
      const inside = one.getBoundingClientRect();
      const chart = one.querySelector("svg").getBoundingClientRect();
      return [chart.right, inside.right, chart.width, inside.width];
    });
    assert.ok(ends[2] > ends[3], `${path}: the chart is wider than the window`);
    assert.ok(ends[0] <= ends[1] + 1, `${path}: it ends at ${ends[0]}, the window at ${ends[1]}`);
  }
});

test("neither a day nor a time is broken", async () => {
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.goto(`${GATEWAY}/ui/audit`);
  const heights = await page.locator("td time span").evaluateAll((all) => all.map((one) => one.getClientRects().length));
  assert.ok(heights.length > 0 && heights.every((lines) => lines === 1), `${heights}`);
  await look(page, "audit-wide");
  await page.goto(`${GATEWAY}/ui`);
  const until = await page.locator(".card time span").evaluateAll((all) => all.map((one) => one.getClientRects().length));
  assert.ok(until.length > 0 && until.every((lines) => lines === 1), `${until}`);
});

test("a form that was sent after signing out says that nothing was saved", async () => {
  await page.goto(`${GATEWAY}/ui/keys`);
  await page.getByLabel("Name").fill("Typed in vain");
  await page.context().clearCookies({ name: "svc_session" });
  await page.getByLabel("ai:chat").check();
  await page.getByRole("button", { name: "Create the key" }).click();
  await page.getByText("You were signed out. Nothing was saved.").waitFor();
  await look(page, "signed-out");
  await page.getByLabel("E-mail address").fill("long@clinic.example");
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL(`${GATEWAY}/ui/keys`);
});
