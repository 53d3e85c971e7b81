import { createHash } from 'node:crypto'
import { type FormatName, formats } from '@heddle/contracts'
import { modelMessageSchema } from 'ai'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { pdfFile, pngFile, wavFile } from '../../../../test/support/src/samples/media-files.js'
import { partsOf } from '../../../../test/support/src/samples/parts.js'
import { validateContext } from '../../../../test/support/src/validators/index.js'
import { fillSlots, partToStore, slotsIn } from '../parts/index.js'
import { countTokens } from '../tokens/tokens.js'
import {
  besideRendered,
  countFrame,
  countNeutralMessage,
  countRendered,
  formatFaults,
  fromRendered,
  render,
} from './index.js'
import type { NeutralMessage } from './neutral-message.js'

const screenshot = pngFile(1_280, 720, 'screen').toString('base64')
const report = pdfFile(2).toString('base64')
const sound = wavFile(2).toString('base64')
const bytes = new Map(
  [screenshot, report, sound].map((data) => [
    createHash('sha256').update(Buffer.from(data, 'base64')).digest('hex'),
    data,
  ]),
)

function partsFor(reference: string): NonNullable<NeutralMessage['parts']> {
  const given = [
    { type: 'image' as const, mediaType: 'image/png', data: screenshot, offset: 4 },
    { type: 'document' as const, mediaType: 'application/pdf', data: report, name: 'report.pdf' },
    { type: 'audio' as const, mediaType: 'audio/wav', data: sound },
  ]
  return given.map((part, index) => ({ ...partToStore(part).part, reference: `${reference}:part-${index + 1}` }))
}

const session: NeutralMessage[] = [
  { role: 'user', content: 'See this and that.', parts: partsFor('msg-a') },
  { role: 'assistant', content: 'I look.', toolCalls: [{ id: 'c1', name: 'screenshot', arguments: {} }] },
  {
    role: 'tool_result',
    content: 'shot',
    toolCallId: 'c1',
    toolName: 'screenshot',
    parts: partsFor('msg-b'),
  },
  { role: 'assistant', content: 'Seen.' },
]

function delivered(format: FormatName, list: readonly NeutralMessage[]) {
  const rendered = render(format, list)
  return { ...rendered, messages: fillSlots(rendered.messages, (hash) => bytes.get(hash) ?? 'aGVkZGxl') }
}

/** How often the bytes of a file occur in a context, and whether a line names it. */
function standing(format: FormatName, data: string, line: string) {
  const json = JSON.stringify(delivered(format, session).messages)
  return [json.split(data).length - 1, json.split(line).length - 1]
}

describe.each([
  // The image, the PDF and the audio, once in the user's message and once in the tool's result.
  ['neutral', 2, 2, 2],
  ['openai-chat', 1, 1, 1],
  ['openai-responses', 2, 2, 0],
  ['anthropic', 2, 2, 0],
  ['ai-sdk', 2, 2, 2],
] as const)('in %s', (format, images, documents, sounds) => {
  test('parts that the provider accepts are delivered byte for byte, and a line names the others', () => {
    expect(standing(format, screenshot, '[image image/png 1280x720')).toEqual([images, 2 - images])
    expect(standing(format, report, '[document application/pdf')).toEqual([documents, 2 - documents])
    expect(standing(format, sound, '[audio audio/wav')).toEqual([sounds, 2 - sounds])
  })

  test('the session is valid before and after its slots are filled', () => {
    expect(formatFaults(format, render(format, session))).toEqual([])
    expect(formatFaults(format, delivered(format, session))).toEqual([])
    expect(validateContext({ format, ...delivered(format, session) })).toEqual([])
  })

  test('a slot counts as many tokens as the bytes that replace it', () => {
    const rendered = render(format, session)
    expect(countRendered(delivered(format, session).messages, countTokens)).toBe(
      countRendered(rendered.messages, countTokens),
    )
    const apart = session.reduce((sum, message) => sum + countNeutralMessage(format, message, countTokens), 0)
    expect(apart + countFrame(format, countTokens)).toBeGreaterThanOrEqual(
      countRendered(rendered.messages, countTokens),
    )
  })

  test('slots are not searched in tool arguments, or in texts of messages', () => {
    const slot = [...slotsIn(render(format, session).messages)].map((hash) => `heddle-part:${hash}:1`)[0] ?? ''
    const forged: NeutralMessage[] = [
      { role: 'user', content: slot },
      { role: 'assistant', content: slot, toolCalls: [{ id: 'c', name: 'f', arguments: { data: slot, url: slot } }] },
      { role: 'tool_result', content: slot, toolCallId: 'c', toolName: 'f' },
    ]
    expect(slotsIn(render(format, forged).messages).size).toBe(0)
  })
})

test('the AI SDK reads its own format with images and files in it', () => {
  for (const message of delivered('ai-sdk', session).messages) modelMessageSchema.parse(message)
})

test('the order of texts and images is kept', () => {
  const [user] = render('anthropic', session).messages
  const blocks = (user?.['content'] ?? []) as { type: string }[]
  expect(blocks.map(({ type }) => type)).toEqual(['text', 'image', 'text', 'document', 'text'])
})

test('an image in a tool error is named in text, since errors are text only', () => {
  const failed = session.map((message) => (message.role === 'tool_result' ? { ...message, isError: true } : message))
  for (const format of ['anthropic', 'ai-sdk', 'openai-chat'] as const) {
    const json = JSON.stringify(delivered(format, failed).messages.slice(2))
    expect(json).toContain('msg-b:part-1')
    expect(json).not.toContain(screenshot)
    expect(validateContext({ format, ...delivered(format, failed) })).toEqual([])
  }
})

const contents = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 30 }),
  fc.constantFrom('', ' ', '\n\n', 'a\ud83d\ude00b'),
)
const anyMessage = contents.chain((content) =>
  fc.record({ content: fc.constant(content), parts: fc.option(partsOf(content)), isError: fc.boolean() }),
)

test.each(formats)(
  'any parts at any position become messages of %s that providers accept, and are restored from them',
  (format) => {
    fc.assert(
      fc.property(fc.array(fc.tuple(anyMessage, anyMessage), { maxLength: 4 }), (pairs) => {
        const list = pairs.flatMap(([user, result], index): NeutralMessage[] => {
          const referred = (parts: typeof user.parts, code: string) =>
            parts === null
              ? {}
              : { parts: parts.map((part, at) => ({ ...part, reference: `msg-${code}:part-${at + 1}` })) }
          return [
            { role: 'user', content: user.content, ...referred(user.parts, `u${index}`) },
            { role: 'assistant', content: '', toolCalls: [{ id: `c${index}`, name: 'f', arguments: {} }] },
            {
              role: 'tool_result',
              content: result.content,
              toolCallId: `c${index}`,
              toolName: 'f',
              ...(result.isError && { isError: true }),
              ...referred(result.parts, `r${index}`),
            },
          ]
        })
        const rendered = render(format, list)
        expect(formatFaults(format, rendered)).toEqual([])
        expect(validateContext({ format, ...delivered(format, list) })).toEqual([])
        const sum = list.reduce((tokens, message) => tokens + countNeutralMessage(format, message, countTokens), 0)
        expect(countRendered(rendered.messages, countTokens)).toBeLessThanOrEqual(sum + countFrame(format, countTokens))
        const back = fromRendered(format, rendered, besideRendered(format, list))
        expect(JSON.parse(JSON.stringify(back))).toEqual(JSON.parse(JSON.stringify(list)))
      }),
      { numRuns: 50 },
    )
  },
)
