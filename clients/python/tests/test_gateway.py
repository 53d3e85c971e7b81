"""
The client against a gateway: HEDDLE_URL, and HEDDLE_KEY if it has keys. HEDDLE_TEST_WORD is a word of a message that every stage
of the gateway has seen: messages are found by search once they have.
"""

import os
import unittest
import uuid

from heddle import Client, HeddleError


@unittest.skipIf("HEDDLE_URL" not in os.environ, "no gateway is named by HEDDLE_URL")
class Gateway(unittest.TestCase):
    def setUp(self):
        self.client = Client()
        self.thread = f"python-{uuid.uuid4()}"

    def test_what_was_said_comes_back_in_a_context_and_by_its_reference(self):
        call = {"id": "call-1", "name": "read", "arguments": {"path": "ports.txt"}}
        said = [
            {"role": "user", "content": "Which port? \ud83d\ude80 and a lone \ud800".encode("utf-16", "surrogatepass").decode("utf-16", "replace")},
            {"role": "assistant", "content": "", "toolCalls": [call]},
            {"role": "tool_result", "toolCallId": "call-1", "content": "The tests listen on 5433."},
        ]
        stored = self.client.append(self.thread, said, agent="snake")
        self.assertEqual((stored["stored"], stored["repeated"]), (3, 0))
        context = self.client.build(self.thread, budget=8000, format="anthropic")
        self.assertEqual([message["role"] for message in context["messages"]], ["user", "assistant", "user"])
        self.assertLessEqual(context["tokensUsed"], 8000)
        listed = list(self.client.messages(self.thread, limit=2))
        self.assertEqual([message["content"] for message in listed], [message["content"] for message in said])
        recalled = self.client.recall(listed[2]["reference"], thread=self.thread)
        self.assertEqual(recalled["content"], said[2]["content"])

    def test_an_append_in_parts_and_again_is_stored_once(self):
        messages = [{"id": str(uuid.uuid4()), "role": "user", "content": f"Line {number}"} for number in range(1200)]
        first = self.client.append(self.thread, messages, agent="snake")
        again = self.client.append(self.thread, messages, agent="snake")
        self.assertEqual((first["stored"], again["stored"], again["repeated"]), (1200, 0, 1200))

    def test_one_round_trip_stores_and_builds(self):
        turn = [{"role": "user", "content": "Remember 7391."}]
        built = self.client.build(self.thread, agent="snake", append=turn, budget=4000, format="openai-chat")
        self.assertEqual(built["appended"]["stored"], 1)
        self.assertIn("7391", str(built["messages"]))

    @unittest.skipIf("HEDDLE_TEST_WORD" not in os.environ, "no word is named by HEDDLE_TEST_WORD")
    def test_what_was_said_is_found_by_its_words(self):
        word = os.environ["HEDDLE_TEST_WORD"]
        [hit] = [hit for hit in self.client.search(word) if word in hit["text"]]
        self.assertIn(word, self.client.recall(hit["ref"])["content"])

    def test_a_missing_thread_is_named(self):
        with self.assertRaises(HeddleError) as raised:
            self.client.call("getThread", {"thread": f"missing-{uuid.uuid4()}"})
        self.assertEqual(raised.exception.code, "NOT_FOUND")


if __name__ == "__main__":
    unittest.main()
