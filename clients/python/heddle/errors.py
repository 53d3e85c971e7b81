"""The error of every refusal, with the gateway's own code, field and hint."""

from __future__ import annotations

from typing import Any, Mapping, Optional

#: Codes after which the same request may succeed later.
RETRYABLE = frozenset(["RATE_LIMITED", "SERVICE_UNAVAILABLE", "TIMEOUT", "INTERNAL"])
#: Refused before any work was started.
NOT_STARTED = frozenset(["RATE_LIMITED", "SERVICE_UNAVAILABLE"])


class HeddleError(Exception):
    """A refusal. `code`, `field`, `received` and `hint` are those of the gateway; `retry_after` is in seconds."""

    def __init__(
        self,
        code: str,
        detail: str,
        *,
        field: Optional[str] = None,
        received: Optional[str] = None,
        hint: Optional[str] = None,
        retry_after: Optional[float] = None,
        facts: Optional[Mapping[str, Any]] = None,
        status: Optional[int] = None,
    ) -> None:
        super().__init__(f"{code}: {detail}" if hint is None else f"{code}: {detail} ({hint})")
        self.code = code
        self.detail = detail
        self.field = field
        self.received = received
        self.hint = hint
        self.retry_after = retry_after
        self.facts = facts
        self.status = status

    @property
    def is_retryable(self) -> bool:
        return self.code in RETRYABLE


def error_of(status: int, body: Any, retry_after: Optional[float]) -> HeddleError:
    """The error of an answer. A proxy before the gateway may answer in another form than a problem document."""
    if isinstance(body, Mapping) and isinstance(body.get("code"), str) and isinstance(body.get("detail"), str):
        return HeddleError(
            body["code"],
            body["detail"],
            field=body.get("field"),
            received=body.get("received"),
            hint=body.get("hint"),
            retry_after=body.get("retryAfter", retry_after),
            facts=body.get("facts"),
            status=status,
        )
    code = "RATE_LIMITED" if status == 429 else "SERVICE_UNAVAILABLE"
    detail = f"the gateway, or a proxy before it, answered with {status}"
    return HeddleError(code, detail, retry_after=retry_after, status=status)
