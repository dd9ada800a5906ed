// Judges deliveries with Stripe's own verifier: what is read is [{secret, header, body, expected}], bodies in base64;
// ends with 0 where it believes exactly those that are expected. Run by the suite with deliveries that it has received.

import { readFileSync } from "node:fs";
import Stripe from "stripe";

const stripe = new Stripe("sk_test_unused");
let wrong = 0;
for (const { name, secret, header, body, expected } of JSON.parse(readFileSync(process.argv[2], "utf8"))) {
  let believed;
  try {
    const event = stripe.webhooks.constructEvent(Buffer.from(body, "base64"), header, secret);
    believed = typeof event.id === "string";
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripeSignatureVerificationError)) throw error;
    believed = false;
  }
  if (believed !== expected) {
    console.error(`${name}: believed ${believed}, expected ${expected}`);
    wrong += 1;
  }
}
process.exit(wrong === 0 ? 0 : 1);
