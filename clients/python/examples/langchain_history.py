"""A chat history of LangChain that is stored in Heddle: `pip install langchain-core`."""

from __future__ import annotations

import json
from typing import List, Sequence

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from heddle import Client


class HeddleChatMessageHistory(BaseChatMessageHistory):
    """The messages of a thread within a budget, with the calls of each reply beside their results."""

    def __init__(self, client: Client, thread: str, *, agent: str, budget: int = 32_000) -> None:
        self._client = client
        self._thread = thread
        self._agent = agent
        self._budget = budget

    @property
    def messages(self) -> List[BaseMessage]:
        context = self._client.build(self._thread, agent=self._agent, budget=self._budget, format="openai-chat")
        return [_from_openai(message) for message in context["messages"]]

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        self._client.append(self._thread, [_to_openai(each) for each in messages], agent=self._agent, format="openai-chat")

    def clear(self) -> None:
        """Contexts begin anew; everything that was said stays stored, and can be recalled."""
        self._client.call("clearAgent", {"agent": self._agent}, body={})


def _to_openai(message: BaseMessage) -> dict:
    if isinstance(message, ToolMessage):
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": str(message.content)}
    if isinstance(message, AIMessage):
        calls = [
            {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": json.dumps(call["args"])}}
            for call in message.tool_calls
        ]
        return {"role": "assistant", "content": message.content, **({"tool_calls": calls} if calls else {})}
    return {"role": "system" if isinstance(message, SystemMessage) else "user", "content": message.content}


def _from_openai(message: dict) -> BaseMessage:
    content = message.get("content") or ""
    if message["role"] == "tool":
        return ToolMessage(content=content, tool_call_id=message["tool_call_id"])
    if message["role"] == "assistant":
        calls = [
            {"id": call["id"], "name": call["function"]["name"], "args": json.loads(call["function"]["arguments"])}
            for call in message.get("tool_calls", [])
        ]
        return AIMessage(content=content, tool_calls=calls)
    return SystemMessage(content=content) if message["role"] in ("system", "developer") else HumanMessage(content=content)


if __name__ == "__main__":
    history = HeddleChatMessageHistory(Client(), "chat", agent="assistant")
    history.add_messages(
        [
            HumanMessage("Which port do the tests use?"),
            AIMessage("", tool_calls=[{"id": "call-1", "name": "read", "args": {"path": "ports.txt"}}]),
            ToolMessage("The tests listen on 5433.", tool_call_id="call-1"),
            AIMessage("They use 5433."),
        ]
    )
    for message in history.messages:
        print(f"{message.type}: {message.content or message.tool_calls}")
