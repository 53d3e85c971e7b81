import type { LoadedForBuild } from '@heddle/assemble'
import { estimateTokens, type Message } from '@heddle/core'
import { sampleMessage } from '@heddle/test-support/samples/conversations'
import { sampleInput } from '@heddle/test-support/samples/sample-input'
import { textOf } from '@heddle/test-support/samples/texts'

const MESSAGES_DEFAULT = 80
const NOTHING = { agentId: '', agentName: 'coder' }

/** The input of a context, with new text objects as if read from the store. */
export function loadedThread(index: number, count = MESSAGES_DEFAULT): LoadedForBuild {
  const messages = Array.from({ length: count }, (_, at): Message => {
    const { content } = JSON.parse(JSON.stringify({ content: textOf(index * count + at, 400) })) as { content: string }
    return sampleMessage({ seq: at + 1, role: at % 2 === 0 ? 'user' : 'assistant', content })
  })
  const input = sampleInput({ messages, format: 'openai-chat', count: estimateTokens, headSeq: count })
  return {
    input,
    items: null,
    awaitsPruning: false,
    askedLane: null,
    scopeErased: null,
    laneRecord: null,
    thread: { ...NOTHING, threadId: `thread ${index}` } as unknown as LoadedForBuild['thread'],
    isFilledBesideOwn: false,
    dependence: { lanes: [''], versions: '', holdsUntilMs: null },
  }
}
