import { messageInputSchema, parse } from '@heddle/contracts'
import { messageFingerprint, threadIdOf } from '@heddle/core'
import { existingMessages, type HistoryMessage, listMessages } from '@heddle/store'
import { expect, it } from 'vitest'
import { goodMessage } from '../../../fuzz/messages.js'
import { Random } from '../../../fuzz/random.js'
import { append, appendOne, PROJECT, prepared, storeOfTests } from '../support.js'

const SEED = 4_680
const BATCHES = 15
const MESSAGES_PER_BATCH = 200

const database = storeOfTests()

it('every message that the contract accepts is read back unchanged', async () => {
  const threadId = threadIdOf(PROJECT, 'fuzzed')
  for (let batch = 0; batch < BATCHES; batch++) {
    const messages = Array.from({ length: MESSAGES_PER_BATCH }, (_, index) => {
      const random = new Random(SEED, batch * MESSAGES_PER_BATCH + index)
      return prepared(parse(messageInputSchema, goodMessage(random), 'message'), { ordinal: index })
    })
    const { fromSeq } = await appendOne(database.store, append(messages, { thread: 'fuzzed' }))
    const ids = messages.map(({ input }) => input.id)
    const [stored, fingerprints] = await database.store.inProject(PROJECT, (tx) =>
      Promise.all([
        listMessages(tx, { threadId, afterSeq: fromSeq - 1, limit: MESSAGES_PER_BATCH }),
        existingMessages(tx, { threadId, ids }),
      ]),
    )
    expect(stored.map(asGiven)).toEqual(messages.map(({ input }) => filledIn(input)))
    for (const { input } of messages) {
      expect(fingerprints.get(input.id)).toBe(messageFingerprint(input))
    }
  }
})

function asGiven(stored: HistoryMessage): unknown {
  const {
    seq: _seq,
    code: _code,
    tokens: _tokens,
    reasoningTokens: _reasoningTokens,
    tokensExact: _exact,
    orderedAtMs: _at,
    receivedAtMs: _receivedAt,
    ordinal: _ordinal,
    hasRequestContext: _shown,
    ...fields
  } = stored
  return { ...fields, ...texts(fields) }
}

function filledIn(input: ReturnType<typeof messageInputSchema.parse>): unknown {
  const { sentAt, ...given } = input
  const nulls = { sourceId: null, toolCallId: null, toolName: null, model: null, contextId: null, keptAside: null }
  const fields = {
    ...nulls,
    usage: null,
    metadata: null,
    thinking: [],
    toolCalls: [],
    isError: false,
    pinned: false,
    ...given,
  }
  return {
    ...fields,
    ...texts(fields),
    sentAtMs: sentAt === undefined ? null : Date.parse(sentAt),
  }
}

/** JSON is compared as text: key by key in order, including names such as `__proto__`. */
function texts({
  toolCalls,
  thinking,
  usage,
  metadata,
}: {
  toolCalls: unknown
  thinking: unknown
  usage: unknown
  metadata: unknown
}) {
  return {
    toolCalls: JSON.stringify(toolCalls),
    thinking: JSON.stringify(thinking),
    usage: JSON.stringify(usage),
    metadata: JSON.stringify(metadata),
  }
}
