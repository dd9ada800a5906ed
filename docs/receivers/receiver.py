"""Receives webhooks and believes only what is signed. Standard library only.

WEBHOOK_SECRET is the endpoint's secret as it was shown, `whsec_` included; during a rotation, both with a comma between.
"""

import hashlib
import hmac
import json
import os
import re
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRETS = os.environ["WEBHOOK_SECRET"].split(",")
# 5 minutes, either way: an old delivery may be a copy.
TOLERANCE_S = 300
# Longer than any delivery.
MAX_BODY_BYTES = 4 * 1024 * 1024
# Keep these in your database, with the work, in one transaction: a delivery may come more than once.
seen: set[str] = set()


def is_signed(header: str, body: bytes, now: float) -> bool:
    """Whether any `v1` of the header is a signature of these very bytes, made within the tolerance."""
    pairs = [entry.partition("=")[::2] for entry in header.split(",")]
    times = [value for name, value in pairs if name == "t"]
    if len(times) != 1 or not re.fullmatch("[0-9]{1,15}", times[0]):
        return False
    if abs(now - int(times[0])) > TOLERANCE_S:
        return False
    signed = times[0].encode() + b"." + body
    expected = [hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest() for secret in SECRETS]
    found = [value for name, value in pairs if name == "v1" and value.isascii()]
    return any(hmac.compare_digest(one, other) for one in expected for other in found)


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Seconds of silence after which a connection is closed.
    timeout = 60

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if not re.fullmatch("[0-9]{1,10}", length):
            return self.answer(400)
        if int(length) > MAX_BODY_BYTES:
            return self.answer(413)
        # The raw bytes: parsed and written again they would be others.
        body = self.rfile.read(int(length))
        if not is_signed(self.headers.get("Svc-Signature", ""), body, time.time()):
            return self.answer(400)
        delivery = self.headers["X-Svc-Webhook-Id"]
        if delivery not in seen:
            seen.add(delivery)
            event = json.loads(body)
            print(event["event"], event["id"], flush=True)
        # At once, within 10 seconds: long work belongs in a queue of your own.
        return self.answer(204)

    def answer(self, status: int):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        if status >= 400:
            # What is left of a refused body must not be taken for the next request.
            self.send_header("Connection", "close")
        self.end_headers()

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8000"))), Receiver).serve_forever()
