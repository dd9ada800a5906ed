// A browser, an organization whose owner has signed in, and what every page must keep to.
//
// SVC_SCREENSHOTS names a folder that every page is pictured in, for docs/.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";

import { chromium } from "playwright-core";

export const GATEWAY = process.env.SDK_GATEWAY;
// Milliseconds until a page must be there; a busy machine takes its time.
export const PATIENCE_MS = 60_000;
export const PASSWORD = "correct-horse-battery-9";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const BROWSERS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"];
const SCREENSHOTS = process.env.SVC_SCREENSHOTS;

/** The browser of the machine. Containers lack what its sandbox and its shared memory need; it opens our pages alone. */
export async function browser() {
  const executablePath = BROWSERS.find((path) => existsSync(path));
  assert.ok(executablePath, "Chromium is missing: apt-get install chromium");
  const args = ["--no-sandbox", "--disable-dev-shm-usage"];
  return chromium.launch({ executablePath, args, timeout: PATIENCE_MS });
}

// Each file of tests is a process of its own, before the same gateway.
let owners = 0;

/** A fresh organization: its ids, an API key, its owner's address and the link to set a password with. */
export function organization(...options) {
  const email = `owner-${process.pid}-${owners++}@clinic.example`;
  const command = ["admin", "bootstrap", "--json", "--features", "integrations", "--email", email, ...options];
  return { email, ...JSON.parse(execFileSync(process.env.SDK_PROGRAM, command, { encoding: "utf8" })) };
}

/** A page on which the owner of a fresh organization is signed in. */
export async function signedIn(open, owner) {
  const context = await open.newContext({ viewport: { width: 1280, height: 900 } });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  watch(page);
  await page.goto(owner.invitation_url);
  await page.getByLabel("New password").fill(PASSWORD);
  await page.getByLabel("The same once more").fill(PASSWORD);
  await page.getByRole("button", { name: "Set the password" }).click();
  await page.waitForURL(/\/ui(\/|$|\?)/);
  return page;
}

/** What the console of a page must never say: scripts or styles that the policy of the page keeps out. */
export function watch(page) {
  page.wrong = [];
  page.on("console", (message) => {
    if (message.type() === "error") page.wrong.push(message.text());
  });
  page.on("pageerror", (error) => page.wrong.push(String(error)));
}

/** Looks at a page: nothing was kept out, nobody is shut out, and a picture where pictures are asked for. */
export async function look(page, name) {
  assert.deepEqual(page.wrong.filter((text) => /Content Security Policy/i.test(text)), [], name);
  // Evaluated from outside, which the policy of the page has no say in.
  await page.evaluate(axe);
  const { violations } = await page.evaluate((tags) => window.axe.run(document, { runOnly: tags }), TAGS);
  const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  assert.deepEqual(serious.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]), [], name);
  if (SCREENSHOTS) {
    mkdirSync(SCREENSHOTS, { recursive: true });
    await page.screenshot({ path: `${SCREENSHOTS}/${name}.png`, fullPage: true });
    // Taking it puts a style into the page, which the page's policy keeps out.
    page.wrong.length = 0;
  }
}
