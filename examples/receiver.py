#!/usr/bin/env python3
"""Receives events of a Steadfast server, and believes only those that are signed.

    python3 examples/receiver.py --port 8099 --secret whsec_...
    steadfast serve tickets --webhook http://127.0.0.1:8099/ --webhook-secret http://127.0.0.1:8099/=whsec_...

Give `--secret` twice while secrets are changed: first teach every receiver the new one, then let the
server sign with both, then take the old one away. Each event that is taken is printed as one line of
JSON. An event may come twice, always under the same `webhook-id`: the second is answered, not printed.

Needs nothing but Python.
"""

import argparse
import base64
import binascii
import hashlib
import hmac
import json
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

TOLERANCE_SECONDS = 5 * 60
BODY_BYTES_MAX = 1 << 20


def key_of(secret):
    """The bytes of a secret such as `whsec_MfKQ...`."""
    if not secret.startswith("whsec_"):
        raise argparse.ArgumentTypeError("a secret begins with whsec_")
    try:
        return base64.b64decode(secret[len("whsec_"):], validate=True)
    except binascii.Error:
        raise argparse.ArgumentTypeError("after whsec_ a secret is base64") from None


def is_believed(keys, headers, body, now):
    """Was this made by someone who knows one of the secrets, and lately?"""
    identity, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not timestamp.isdigit() or abs(now - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    message = f"{identity}.{timestamp}.".encode() + body
    for given in headers.get("webhook-signature", "").split(" "):
        version, _, signature = given.partition(",")
        if version != "v1":
            continue
        for key in keys:
            made = base64.b64encode(hmac.new(key, message, hashlib.sha256).digest()).decode()
            # compared in the same time whether it is nearly right or not
            if hmac.compare_digest(made.encode(), signature.encode()):
                return True
    return False


def receiver(keys):
    seen = set()

    class Receiver(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            length = int(self.headers.get("content-length", "0"))
            if length > BODY_BYTES_MAX:
                self.close_connection = True
                return self.answer(413)
            body = self.rfile.read(length)
            if not is_believed(keys, self.headers, body, time.time()):
                return self.answer(401)
            identity = self.headers["webhook-id"]
            if identity not in seen:
                # a real receiver keeps this with what it does, in one transaction
                seen.add(identity)
                print(json.dumps(json.loads(body)), flush=True)
            self.answer(204)

        def answer(self, status):
            self.send_response(status)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    return Receiver


def main():
    parser = argparse.ArgumentParser(description="Receives signed events.")
    parser.add_argument("--port", type=int, default=8099, help="0 is any that is free")
    parser.add_argument("--secret", type=key_of, action="append", required=True)
    options = parser.parse_args()
    server = HTTPServer(("127.0.0.1", options.port), receiver(options.secret))
    print(json.dumps({"listening": server.server_port}), flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
