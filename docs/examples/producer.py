"""A producer over plain HTTP, with nothing but Python's standard library.

    HEDDLE_URL=http://127.0.0.1:4680 HEDDLE_KEY=hdl_... python3 producer.py AGENT THREAD < lines.txt

Each line of standard input becomes a message of the user. Ids are made before anything is sent, so a request whose answer
was lost is sent again without harm.
"""

import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

TRIES_MAX = 5
BATCH_MESSAGES = 100


def post(path, body):
    """Sends a request, again where Heddle says that this may help, and gives its answer."""
    headers = {"content-type": "application/json"}
    if os.environ.get("HEDDLE_KEY"):
        headers["authorization"] = "Bearer " + os.environ["HEDDLE_KEY"]
    url = os.environ.get("HEDDLE_URL", "http://127.0.0.1:4680") + path
    request = urllib.request.Request(url, json.dumps(body).encode(), headers, method="POST")
    for tries in range(1, TRIES_MAX + 1):
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            problem = json.load(error)
            if error.code not in (429, 503, 504) or tries == TRIES_MAX:
                raise SystemExit(f"{problem['code']}: {problem['detail']}")
            time.sleep(float(error.headers.get("retry-after", 1)))
        except urllib.error.URLError as error:
            if tries == TRIES_MAX:
                raise SystemExit(f"Heddle is not there: {error.reason}")
            time.sleep(tries)


def main(agent, thread):
    lines = [line.rstrip("\n") for line in sys.stdin if line.strip()]
    path = "/v1/threads/" + urllib.parse.quote(thread, safe="") + "/messages"
    stored = 0
    for start in range(0, len(lines), BATCH_MESSAGES):
        batch = lines[start : start + BATCH_MESSAGES]
        messages = [{"id": str(uuid.uuid4()), "role": "user", "content": line} for line in batch]
        stored += post(path, {"agent": agent, "messages": messages})["stored"]
    print(json.dumps({"stored": stored}))


if __name__ == "__main__":
    main(*sys.argv[1:3])
