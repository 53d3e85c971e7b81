"""Sends requests, repeats them if that is useful and safe, and raises refusals as errors."""

from __future__ import annotations

import http.client
import json
import random
import time
import urllib.error
import urllib.request
from typing import Any, Callable, Mapping, Optional
from urllib.parse import urlencode, urlsplit

from .errors import NOT_STARTED, HeddleError, error_of

PAUSE_MIN = 0.1
PAUSE_MAX = 1.0
WAIT_MAX = 60


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A key is not sent to another server."""

    def redirect_request(self, *_: Any) -> None:
        return None


class Transport:
    """
    `timeout` is in seconds, of a whole call with its retries.

    Repeated are: requests without a further effect when repeated (`again`), after any failure that may pass; the others
    (`refused`) only after a refusal that started nothing.
    """

    def __init__(self, url: str, key: Optional[str], timeout: float, sleep: Callable[[float], None] = time.sleep) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or parts.netloc == "":
            detail = "url must be an address such as http://127.0.0.1:4680"
            raise HeddleError("VALIDATION_ERROR", detail, field="url", received=repr(url))
        base = url.rstrip("/")
        self._base = base[: -len("/v1")] if base.endswith("/v1") else base
        self._key = key
        self._timeout = timeout
        self._sleep = sleep
        self._opener = urllib.request.build_opener(_NoRedirect)

    def call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any],
        body: Any = None,
        headers: Mapping[str, str],
        retry: str,
        timeout: Optional[float] = None,
    ) -> Any:
        ends_at = time.monotonic() + (self._timeout if timeout is None else timeout)
        tries = 0
        while True:
            left = max(0.001, ends_at - time.monotonic())
            try:
                return self._once(method, path, query, body, headers, left)
            except HeddleError as error:
                pause = _pause_after(error, tries)
                may_retry = error.is_retryable and (retry == "again" or (retry == "refused" and error.code in NOT_STARTED))
                if not may_retry or time.monotonic() + pause >= ends_at:
                    raise
                self._sleep(pause)
                tries += 1

    def _once(
        self, method: str, path: str, query: Mapping[str, Any], body: Any, headers: Mapping[str, str], left: float
    ) -> Any:
        pairs = [(name, _text(value)) for name, value in query.items() if value is not None]
        url = f"{self._base}{path}" + (f"?{urlencode(pairs)}" if pairs else "")
        request = urllib.request.Request(url, method=method, headers=dict(headers))
        request.add_header("prefer", f"wait={min(WAIT_MAX, max(1, round(left)))}")
        if self._key is not None:
            request.add_header("authorization", f"Bearer {self._key}")
        if body is not None:
            request.data = json.dumps(body, ensure_ascii=False, allow_nan=False).encode("utf-8", "surrogatepass")
            request.add_header("content-type", "application/json")
        try:
            with self._opener.open(request, timeout=left + 0.5) as response:
                return json.loads(response.read())
        except urllib.error.HTTPError as refusal:
            with refusal:
                raise error_of(refusal.code, _json_or_none(refusal.read()), _seconds(refusal.headers)) from None
        except TimeoutError as cause:
            raise HeddleError("TIMEOUT", "no answer was received before the deadline") from cause
        except (OSError, ValueError, http.client.HTTPException) as cause:
            if isinstance(getattr(cause, "reason", None), TimeoutError):
                raise HeddleError("TIMEOUT", "no answer was received before the deadline") from cause
            # A connection that ended in the middle of a request may have done its work.
            reason = getattr(cause, "reason", cause)
            code = "SERVICE_UNAVAILABLE" if isinstance(reason, ConnectionRefusedError) else "TIMEOUT"
            raise HeddleError(code, "the gateway does not answer", hint="Check whether it runs: GET /healthz") from cause


def _pause_after(error: HeddleError, tries: int) -> float:
    backoff = min(PAUSE_MIN * 2**tries, PAUSE_MAX)
    return (error.retry_after or 0) + backoff / 2 + backoff / 2 * random.random()


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(_text(each) for each in value)
    return str(value)


def _json_or_none(text: bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _seconds(headers: Mapping[str, str]) -> Optional[float]:
    try:
        return float(headers.get("retry-after", ""))
    except ValueError:
        return None
