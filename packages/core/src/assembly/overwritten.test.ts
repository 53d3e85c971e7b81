import type { FormatName } from '@heddle/contracts'
import { expect, test } from 'vitest'
import { sampleMessage } from '../../../../test/support/src/samples/conversations.js'
import { sampleInput } from '../../../../test/support/src/samples/sample-input.js'
import { validateAnthropic, validateOpenAiChat } from '../../../../test/support/src/validators/index.js'
import { countTokens } from '../tokens/tokens.js'
import { buildContext } from './build.js'

const content = (name: string) => `const ${name} = 1\n`.repeat(120)
const call = (id: string, name: string) => ({
  id,
  name: 'Write',
  arguments: { file_path: '/repo/a.ts', content: content(name) },
})

/** A file that is written, and written again, then talk of about 1,500 tokens. */
const messages = [
  sampleMessage({ seq: 1, content: 'Please write it.' }),
  sampleMessage({ seq: 2, role: 'assistant', content: 'I write it.', toolCalls: [call('call-1', 'first')] }),
  sampleMessage({ seq: 3, role: 'tool_result', toolCallId: 'call-1', content: 'Written.' }),
  sampleMessage({ seq: 4, role: 'assistant', content: '', toolCalls: [call('call-2', 'second')] }),
  sampleMessage({ seq: 5, role: 'tool_result', toolCallId: 'call-2', content: 'Written.' }),
  ...Array.from({ length: 20 }, (_, index) =>
    sampleMessage({ seq: 6 + index, role: index % 2 === 0 ? 'user' : 'assistant', content: 'talk '.repeat(60) }),
  ),
]

test.each(['openai-chat', 'anthropic'] as const)(
  'in %s, the input of a superseded write is one line with its reference; its text, its result and the later write stay',
  (format: FormatName) => {
    const settings = { budget: 2_800, sandwich: { compressionThreshold: 1 } }
    const context = buildContext(sampleInput({ messages, format }, settings))
    const sent = JSON.stringify(context.messages)
    expect(sent).toContain('I write it.')
    expect(sent).not.toContain('const first')
    expect(sent).toContain('const second')
    expect(sent).toContain('✏️ Edited /repo/a.ts [recall:msg-00000002:tool-1]')
    const entry = context.receipt.entries.find(({ fromSeq }) => fromSeq === 2)
    expect(entry).toMatchObject({ mode: 'condensed', reason: 'input superseded by a later write' })
    expect(context.tokensUsed).toBeLessThanOrEqual(settings.budget)
    expect(countTokens(sent)).toBeLessThan(settings.budget)
    const faults =
      format === 'anthropic' ? validateAnthropic(context as never) : validateOpenAiChat(context.messages as never)
    expect(faults).toEqual([])
  },
)
