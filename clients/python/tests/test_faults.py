"""The client against a server that fails: what is repeated, what is not, and what an error says."""

import json
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from heddle import Client, HeddleError


class Server:
    """Answers each request with the next of its answers: a status with a body, or None to end the connection."""

    def __init__(self, answers):
        self.requests = []
        pending = list(answers)
        requests = self.requests

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                requests.append((self.path, dict(self.headers), json.loads(body or b"null")))
                answer = pending.pop(0)
                if answer is None:
                    self.close_connection = True
                    self.connection.close()
                    return
                status, document, headers = answer
                text = json.dumps(document).encode()
                self.send_response(status)
                for name, value in {"content-type": "application/json", **headers}.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_DELETE = do_POST

            def log_message(self, *_):
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


STORED = (200, {"threadId": "t", "stored": 1, "repeated": 0}, {})
BUSY = (429, {"code": "RATE_LIMITED", "detail": "too many requests", "retryAfter": 0.01}, {})
AWAY = (503, {"code": "SERVICE_UNAVAILABLE", "detail": "no store"}, {})
MESSAGE = {"role": "user", "content": "Which port?"}


class Faults(unittest.TestCase):
    def test_an_append_is_repeated_with_the_same_ids_and_key_until_it_is_answered(self):
        with Server([None, AWAY, BUSY, STORED]) as server:
            result = Client(server.url, key="hdl_x").append("run", [MESSAGE], agent="coder")
        self.assertEqual(result["stored"], 1)
        self.assertEqual(len(server.requests), 4)
        bodies = [body for _, _, body in server.requests]
        self.assertTrue(all(body == bodies[0] for body in bodies))
        self.assertIn("id", bodies[0]["messages"][0])
        self.assertEqual(len({headers["Idempotency-Key"] for _, headers, _ in server.requests}), 1)
        self.assertEqual(server.requests[0][1]["Authorization"], "Bearer hdl_x")

    def test_a_request_with_a_further_effect_is_repeated_only_after_a_refusal(self):
        with Server([AWAY, BUSY, (201, {"id": "s"}, {})]) as server:
            self.assertEqual(Client(server.url).call("deleteThread", {"thread": "run"}), {"id": "s"})
        with Server([None]) as server:
            with self.assertRaises(HeddleError) as raised:
                Client(server.url).call("deleteThread", {"thread": "run"})
            self.assertEqual((raised.exception.code, len(server.requests)), ("TIMEOUT", 1))

    def test_a_permanent_refusal_is_an_error_with_its_field_and_hint(self):
        problem = {"code": "VALIDATION_ERROR", "detail": "budget: must be positive", "field": "budget", "hint": "Give one."}
        with Server([(400, problem, {})]) as server:
            with self.assertRaises(HeddleError) as raised:
                Client(server.url).build("run", budget=-1)
        error = raised.exception
        self.assertEqual((error.code, error.field, error.hint, error.status), ("VALIDATION_ERROR", "budget", "Give one.", 400))
        self.assertFalse(error.is_retryable)

    def test_a_proxy_in_front_is_waited_for_as_it_asks(self):
        pauses = []
        with Server([(503, "down", {"retry-after": "2"}), (200, {"items": [], "nextCursor": None}, {})]) as server:
            client = Client(server.url)
            client._transport._sleep = pauses.append
            self.assertEqual(list(client.messages("a/b c")), [])
        self.assertGreaterEqual(pauses[0], 2)
        self.assertEqual(server.requests[0][0], "/v1/threads/a%2Fb%20c/messages?order=asc&limit=100")

    def test_a_redirect_is_not_followed_with_the_key(self):
        with Server([(302, {}, {"location": "http://127.0.0.1:1/"})] * 50) as server:
            with self.assertRaises(HeddleError):
                Client(server.url, key="hdl_x", timeout=0.2).call("listThreads")

    def test_nobody_listens(self):
        with self.assertRaises(HeddleError) as raised:
            Client("http://127.0.0.1:9", timeout=0.3).search("port")
        self.assertEqual(raised.exception.code, "SERVICE_UNAVAILABLE")
        with self.assertRaises(HeddleError) as raised:
            Client("ftp://heddle")
        self.assertEqual(raised.exception.field, "url")


if __name__ == "__main__":
    unittest.main()
