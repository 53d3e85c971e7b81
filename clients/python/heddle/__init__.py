"""Client of Heddle, the context engine for LLM agents, over HTTP and with the standard library alone."""

from .client import Client
from .errors import HeddleError

__all__ = ["Client", "HeddleError"]
