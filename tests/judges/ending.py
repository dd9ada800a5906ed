"""A provider's ending for a server that has none.

The judge's own server streams `[DONE]` without a `finish_reason` before it. No real provider does, and the gateway
takes such a stream for one that broke off (wire notes 2, point 39). This stands between them: a request goes on as it
came, byte for byte of its body and every header; an answer comes back as it is, with the missing chunk before `[DONE]`.
It judges nothing and keeps nothing.
"""

import http.client
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# What every real stream says before it ends.
FINISH = b'data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}\n\n'
DONE = b"data: [DONE]"
# Headers of one connection, which are none of the next (RFC 9110, 7.6.1).
OF_THE_CONNECTION = {"connection", "keep-alive", "transfer-encoding"}
# Seconds for one answer of the judge's server.
TIMEOUT_S = 60.0


class Ending:
    """Listens on a port of its own and sends everything on to `port`."""

    def __init__(self, port: int) -> None:
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler(port))
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"

    def close(self) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


def handler(port: int) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_arguments: object) -> None:
            """Requests may be content."""

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", "0")))
            onward = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)
            try:
                onward.putrequest("POST", self.path, skip_host=True, skip_accept_encoding=True)
                for name, value in self.headers.items():
                    if name.lower() not in OF_THE_CONNECTION:
                        onward.putheader(name, value)
                onward.endheaders(body)
                self.answer(onward.getresponse())
            finally:
                onward.close()
            self.close_connection = True

        def answer(self, judged: http.client.HTTPResponse) -> None:
            self.send_response(judged.status)
            for name, value in judged.getheaders():
                # The length is another with one chunk more; the end of the connection is the end of the body.
                if name.lower() not in OF_THE_CONNECTION | {"content-length", "date", "server"}:
                    self.send_header(name, value)
            self.send_header("Connection", "close")
            self.end_headers()
            for line in judged:
                if line.startswith(DONE):
                    self.wfile.write(FINISH)
                self.wfile.write(line)
                self.wfile.flush()

    return Handler
