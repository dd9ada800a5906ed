"""Judges deliveries with Stripe's own verifier: what is read is [{secret, header, body, expected}], bodies in base64;
ends with 0 where it believes exactly those that are expected. Run by the suite with deliveries that it has received.
"""

import base64
import json
import sys

import stripe


def main() -> int:
    with open(sys.argv[1]) as file:
        cases = json.load(file)
    wrong = 0
    for case in cases:
        body = base64.b64decode(case["body"])
        try:
            stripe.Webhook.construct_event(body, case["header"], case["secret"])
            believed = True
        except stripe.SignatureVerificationError:
            believed = False
        if believed != case["expected"]:
            print(f"{case['name']}: believed {believed}, expected {case['expected']}", file=sys.stderr)
            wrong += 1
    return 0 if wrong == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
