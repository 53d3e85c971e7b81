"""The client: messages, contexts, recall and search by methods, every other operation by its name."""

from __future__ import annotations

import os
import re
import uuid
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional
from urllib.parse import quote

from .errors import HeddleError
from .operations import OPERATIONS
from .transport import Transport

RETRIES = {"idempotent": "again", "by-key": "again", "once": "refused"}
#: The gateway takes at most so many messages in one append.
MESSAGES_MAX = 1000


class Client:
    """
    A client of one project over HTTP.

    `url` and `key` default to HEDDLE_URL and HEDDLE_KEY; `timeout` is in seconds. It may be shared by threads.

    >>> client = Client("http://127.0.0.1:4680")
    >>> client.append("session", [{"role": "user", "content": "Which port?"}], agent="coder")
    >>> client.build("session", budget=8000, format="anthropic")["messages"]
    """

    def __init__(self, url: Optional[str] = None, key: Optional[str] = None, timeout: float = 30.0) -> None:
        address = url or os.environ.get("HEDDLE_URL") or "http://127.0.0.1:4680"
        self._transport = Transport(address, key or os.environ.get("HEDDLE_KEY"), timeout)

    def call(
        self,
        operation: str,
        params: Optional[Mapping[str, str]] = None,
        *,
        query: Optional[Mapping[str, Any]] = None,
        body: Any = None,
        headers: Optional[Mapping[str, str]] = None,
        idempotency_key: Optional[str] = None,
        retry: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> Any:
        """Calls an operation of the reference by its id, such as `listThreads`, and returns the JSON of its answer."""
        if operation not in OPERATIONS:
            hint = "docs/http-operations.md lists them"
            raise HeddleError("VALIDATION_ERROR", f"there is no operation {operation!r}", field="operation", hint=hint)
        method, path, repeat = OPERATIONS[operation]
        sent = dict(headers or {})
        if repeat == "by-key":
            sent.setdefault("idempotency-key", idempotency_key or str(uuid.uuid4()))
        return self._transport.call(
            method,
            _filled(operation, path, params or {}),
            query=query or {},
            body=body,
            headers=sent,
            retry=retry or RETRIES[repeat],
            timeout=timeout,
        )

    def append(
        self,
        thread: str,
        messages: Iterable[Mapping[str, Any]],
        *,
        agent: str,
        format: Optional[str] = None,
        ack: str = "stored",
        **options: Any,
    ) -> Dict[str, Any]:
        """
        Appends messages in order, exactly once: each without an id gets one here, so that a request whose answer was lost is
        repeated without a second effect.

        With `format`, messages have the form of that provider's package; they are then one request, under one key. Further
        `options` are fields of the body, such as `newAgentRollingWindow`.
        """
        given = [dict(message) for message in messages]
        total: Dict[str, Any] = {"stored": 0, "repeated": 0}
        fields = {"agent": agent, "ack": ack, **options}
        if format is not None and format != "neutral":
            body = {**fields, "format": format, "messages": given}
            return self.call("appendMessages", {"thread": thread}, body=body)
        for message in given:
            message.setdefault("id", str(uuid.uuid4()))
        for start in range(0, max(1, len(given)), MESSAGES_MAX):
            body = {**fields, "messages": given[start : start + MESSAGES_MAX]}
            answer = self.call("appendMessages", {"thread": thread}, body=body)
            counts = {name: total[name] + answer.get(name, 0) for name in ("stored", "repeated")}
            total = {**total, **answer, **counts}
        return total

    def build(
        self, thread: str, *, append: Optional[Iterable[Mapping[str, Any]]] = None, **request: Any
    ) -> Dict[str, Any]:
        """
        Builds a context: `messages` in the `format` of a provider within the `budget`, and the receipt.

        With `append` (and `agent`) the messages are stored before, in the same round trip.
        """
        body = dict(request)
        key = str(uuid.uuid4())
        if append is not None:
            # Messages in a provider's form are known by the key.
            has_ids = body.get("appendFormat", "neutral") == "neutral"
            body["append"] = [{"id": str(uuid.uuid4()), **message} if has_ids else dict(message) for message in append]
        headers = {"idempotency-key": key}
        return self.call("buildContext", {"thread": thread}, body=body, headers=headers, retry="again")

    def recall(self, ref: str, **request: Any) -> Dict[str, Any]:
        """The full text behind a reference such as `msg-1a2b3c4d`, or a part of it: `lines`, `search`, `maxTokens`."""
        return self.call("recall", body={"ref": ref, **request})

    def search(self, query: str, **conditions: Any) -> List[Dict[str, Any]]:
        """Earlier messages with the words or the meaning of a query, the best first, each with a reference."""
        return self.call("search", body={"query": query, **conditions})["items"]

    def messages(self, thread: str, *, order: str = "asc", limit: int = 100) -> Iterator[Dict[str, Any]]:
        """All messages of a thread, page by page."""
        return self.pages("listMessages", {"thread": thread}, query={"order": order, "limit": limit})

    def pages(
        self, operation: str, params: Optional[Mapping[str, str]] = None, *, query: Optional[Mapping[str, Any]] = None
    ) -> Iterator[Dict[str, Any]]:
        """The entries of a list, page by page."""
        cursor: Optional[str] = None
        while True:
            page = self.call(operation, params, query={**(query or {}), "cursor": cursor})
            yield from page["items"]
            cursor = page.get("nextCursor")
            if cursor is None:
                return


def _filled(operation: str, path: str, params: Mapping[str, str]) -> str:
    def value(match: "re.Match[str]") -> str:
        name = match.group(1)
        if not params.get(name):
            raise HeddleError("VALIDATION_ERROR", f"{name} is needed by {operation}", field=name)
        return quote(str(params[name]), safe="")

    return re.sub(r":(\w+)", value, path)
