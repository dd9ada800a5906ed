// Receives webhooks and believes only what is signed. Standard library only.
//
// WEBHOOK_SECRET is the endpoint's secret as it was shown, `whsec_` included; during a rotation, both with a comma
// between.

import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const SECRETS = process.env.WEBHOOK_SECRET.split(",");
// 5 minutes, either way: an old delivery may be a copy.
const TOLERANCE_S = 300;
// Longer than any delivery.
const MAX_BODY_BYTES = 4 * 1024 * 1024;
// Keep these in your database, with the work, in one transaction: a delivery may come more than once.
const seen = new Set();

/** Whether any `v1` of the header is a signature of these very bytes, made within the tolerance. */
export function isSigned(header, body, nowMs) {
  const pairs = header.split(",").map((entry) => [entry.slice(0, entry.indexOf("=")), entry.slice(entry.indexOf("=") + 1)]);
  const times = pairs.filter(([name]) => name === "t").map(([, value]) => value);
  if (times.length !== 1 || !/^[0-9]{1,15}$/.test(times[0])) return false;
  if (Math.abs(nowMs / 1000 - Number(times[0])) > TOLERANCE_S) return false;
  const found = pairs.filter(([name]) => name === "v1").map(([, value]) => Buffer.from(value, "hex"));
  return SECRETS.some((secret) => {
    const expected = createHmac("sha256", secret).update(`${times[0]}.`).update(body).digest();
    return found.some((tag) => tag.length === expected.length && timingSafeEqual(tag, expected));
  });
}

const server = createServer((request, response) => {
  const pieces = [];
  let length = 0;
  request.on("data", (piece) => {
    length += piece.length;
    if (length > MAX_BODY_BYTES) request.destroy();
    else pieces.push(piece);
  });
  request.on("end", () => {
    // The raw bytes: parsed and written again they would be others.
    const body = Buffer.concat(pieces);
    if (!isSigned(request.headers["svc-signature"] ?? "", body, Date.now())) {
      response.writeHead(400).end();
      return;
    }
    const delivery = request.headers["x-svc-webhook-id"];
    if (!seen.has(delivery)) {
      seen.add(delivery);
      const event = JSON.parse(body);
      console.log(event.event, event.id);
    }
    // At once, within 10 seconds: long work belongs in a queue of your own.
    response.writeHead(204).end();
  });
});
server.listen(Number(process.env.PORT ?? 8000), "127.0.0.1");
