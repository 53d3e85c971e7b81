import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client, NewMessage } from '@heddle/client/interface'
import { type ContextResult, limits } from '@heddle/contracts'
import { countRendered, countTokens } from '@heddle/core'
import { parseSession } from '@heddle/sessions'
import { pdfFile, pngFile, wavFile } from '@heddle/test-support/samples/media-files'
import { validateContext } from '@heddle/test-support/validators/index'
import { modelMessageSchema } from 'ai'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { searchDatabase } from '../canaries.js'
import { openPipeline, type Pipeline } from '../support.js'

const AGENT = 'viewer'
const providerFormats = ['openai-chat', 'openai-responses', 'anthropic', 'ai-sdk'] as const

let pipeline: Pipeline
let client: Client
let sql: postgres.Sql

beforeAll(async () => {
  pipeline = await openPipeline()
  await pipeline.start()
  client = pipeline.client
  sql = postgres(pipeline.databaseUrl, { max: 1, onnotice: () => {} })
})
afterAll(async () => {
  await sql?.end()
  await pipeline?.close()
})

/** The parts of a user and of a tool; the note is in their bytes. */
function files(note: string) {
  return {
    shown: pngFile(800, 600, `${note} shown`),
    screenshot: pngFile(1_280, 720, `${note} screenshot`),
    report: pdfFile(2, `${note} report`),
    sound: wavFile(1),
  }
}

function sessionOf(note: string): NewMessage[] {
  const { shown, screenshot, report, sound } = files(note)
  return [
    {
      role: 'user',
      content: 'Compare this with the page: what differs?',
      parts: [
        { type: 'image', mediaType: 'image/png', data: shown.toString('base64'), name: 'shown.png', offset: 12 },
        { type: 'document', mediaType: 'application/pdf', data: report.toString('base64'), name: 'report.pdf' },
        { type: 'audio', mediaType: 'audio/wav', data: sound.toString('base64') },
      ],
    },
    {
      role: 'assistant',
      content: 'I look at the page.',
      toolCalls: [{ id: 'call-shot', name: 'screenshot', arguments: { url: 'https://example.com' } }],
    },
    {
      role: 'tool_result',
      toolCallId: 'call-shot',
      content: '',
      parts: [{ type: 'image', mediaType: 'image/png', data: screenshot.toString('base64') }],
    },
    { role: 'assistant', content: 'The header is gone.' },
    { role: 'user', content: 'Then mend it.' },
  ]
}

/** Messages after the parts, so that these are old. */
function laterTurns(): NewMessage[] {
  return Array.from({ length: 14 }, (_, index): NewMessage[] => [
    {
      role: 'user',
      content: `Step ${index}: ${'look at the next rule of the style sheet and say what it does. '.repeat(6)}`,
    },
    {
      role: 'assistant',
      content: `Rule ${index}: ${'it sets the margin of the header to nothing at all. '.repeat(6)}`,
    },
  ]).flat()
}

async function stored(thread: string, messages: readonly NewMessage[]): Promise<void> {
  await client.messages.append({ agent: AGENT, thread, messages: [...messages], newAgentRollingWindow: null })
  await client.threads.waitUntilSettled(thread, { deadlineMs: 60_000 })
}

function checkDelivered(context: ContextResult): void {
  expect(validateContext(context)).toEqual([])
  expect(context.tokensUsed).toBeLessThanOrEqual(context.budget)
  expect(countRendered(context.messages, countTokens)).toBeLessThanOrEqual(context.tokensUsed)
  if (context.format === 'ai-sdk') for (const message of context.messages) modelMessageSchema.parse(message)
}

/** For bytes that would fill the terminal if they differ. */
const digestOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

/** The references in a context. */
function referencesIn({ messages }: ContextResult): string[] {
  return [...JSON.stringify(messages).matchAll(/\[recall:([^\]]+:part-\d+)\]/g)].map(([, reference = '']) => reference)
}

describe('a session with images, a document and a sound', () => {
  const note = 'fernkite'
  beforeAll(() => stored('looking', sessionOf(note)))

  test.each([
    ['openai-chat', ['shown', 'report', 'sound']],
    ['openai-responses', ['shown', 'screenshot', 'report']],
    ['anthropic', ['shown', 'screenshot', 'report']],
    ['ai-sdk', ['shown', 'screenshot', 'report', 'sound']],
    ['neutral', ['shown', 'screenshot', 'report', 'sound']],
  ] as const)(
    'is delivered in %s byte for byte and counted, and parts that the format cannot carry are named',
    async (format, expected) => {
      const context = await client.contexts.build({ thread: 'looking', format, budget: 60_000 })
      checkDelivered(context)
      const json = JSON.stringify(context.messages)
      for (const [name, bytes] of Object.entries(files(note))) {
        expect([name, json.includes(bytes.toString('base64'))]).toEqual([name, expected.includes(name as never)])
      }
      expect(referencesIn(context)).toHaveLength(4 - expected.length)
      // Two images of 800 x 600 and 1,280 x 720 and two pages: the lowest count of any provider.
      expect(context.tokensUsed).toBeGreaterThan(6_000)
      expect(JSON.stringify(context.receipt)).not.toContain(files(note).shown.toString('base64'))
    },
  )

  test('is the same when it is read again, rebuilt, and requested for that moment', async () => {
    for (const format of [...providerFormats, 'neutral'] as const) {
      const context = await client.contexts.build({ thread: 'looking', format, budget: 61_000 })
      expect(await client.contexts.get(context.id)).toEqual(context)
      expect(await client.contexts.get(context.id, { rebuild: true })).toEqual(context)
      const at = new Date().toISOString()
      expect(await client.contexts.at({ thread: 'looking', at })).toEqual(context)
    }
  })

  test('is stored once, however many contexts show it', async () => {
    await stored('looking too', sessionOf(note))
    await client.contexts.build({ thread: 'looking too', format: 'anthropic', budget: 60_000 })
    const places = await searchDatabase(pipeline.databaseUrl, [
      `${note} shown`,
      `${note} screenshot`,
      files(note).shown.toString('base64').slice(0, 200),
    ])
    expect([...places].map(([word, at]) => [word, [...at]])).toEqual([
      [`${note} shown`, ['heddle.part_contents.content']],
      [`${note} screenshot`, ['heddle.part_contents.content']],
    ])
    const hash = createHash('sha256').update(files(note).shown).digest()
    expect(await sql`select reference_count from heddle.part_contents where hash = ${hash}`).toEqual([
      { reference_count: 2 },
    ])
  })

  test('is condensed to lines when it is old, and each line recalls the same bytes', async () => {
    await client.agents.put(AGENT, { settings: { budget: 9_000, rollingWindow: null } })
    await stored('looking', laterTurns())
    const { shown, screenshot, report, sound } = files(note)
    for (const format of [...providerFormats, 'neutral'] as const) {
      const context = await client.contexts.build({ thread: 'looking', format })
      checkDelivered(context)
      const { entries } = context.receipt
      const condensed = entries.filter(({ mode, role }) => mode === 'condensed' && role !== 'assistant')
      expect(condensed.map(({ reason }) => reason)).toEqual(['old image, document or sound', 'old tool result'])
      expect(JSON.stringify(context.messages)).not.toContain(shown.toString('base64').slice(0, 100))
      const recalled = await Promise.all(referencesIn(context).map((ref) => client.recall({ ref, thread: 'looking' })))
      const digests = recalled.map(({ part }) => digestOf(Buffer.from(part?.data ?? '', 'base64')))
      expect([format, digests]).toEqual([format, [shown, report, sound, screenshot].map(digestOf)])
      expect(recalled[0]).toMatchObject({
        contentType: 'image/png',
        content: expect.stringMatching(/^image image\/png 800x600, .*"shown.png"$/),
        part: { type: 'image', name: 'shown.png', width: 800, height: 600 },
      })
    }
  })

  test('is found by the names of its files', async () => {
    const { items } = await client.search({ query: 'report.pdf', thread: 'looking', by: 'words' })
    const { items: history } = await client.messages.list({ thread: 'looking', limit: 1 })
    expect(items[0]?.messageId).toBe(history[0]?.id)
  })

  test('is listed in the history with the parts of each message, without bytes', async () => {
    const { items } = await client.messages.list({ thread: 'looking', limit: 3 })
    expect(items[0]?.parts).toMatchObject([
      { type: 'image', width: 800, height: 600, reference: expect.stringMatching(/^msg-\w+:part-1$/) },
      { type: 'document', pages: 2, name: 'report.pdf' },
      { type: 'audio', seconds: 1 },
    ])
    expect(JSON.stringify(items)).not.toContain(files(note).shown.toString('base64').slice(0, 100))
  })

  test('is a repeat when it is sent again, and a conflict with one byte changed', async () => {
    const [first] = sessionOf('resent')
    const id = '018f0000-0000-7000-8000-0000000000aa'
    const append = (message: NewMessage | undefined) =>
      client.messages.append({
        agent: AGENT,
        thread: 'resent',
        messages: message === undefined ? [] : [{ ...message, id }],
      })
    expect(await append(first)).toMatchObject({ stored: 1, repeated: 0 })
    expect(await append(first)).toMatchObject({ stored: 0, repeated: 1 })
    await expect(append(sessionOf('resend')[0])).rejects.toMatchObject({ code: 'CONFLICT' })
  })

  test('is exported to a file and imported, each content once', async () => {
    const lines: string[] = []
    for await (const line of client.threads.export('looking')) lines.push(line)
    expect(lines.filter((line) => line.startsWith('{"type":"part"'))).toHaveLength(4)
    const other = pipeline.clientOf('elsewhere')
    await other.threads.import(async function* () {
      for (const line of lines) yield line.trimEnd()
    })
    const again: string[] = []
    for await (const line of other.threads.export('looking')) again.push(line)
    expect(again).toEqual(lines)
    const { items } = await other.messages.list({ thread: 'looking', limit: 1 })
    const ref = items[0]?.parts?.[0]?.reference ?? ''
    const { part } = await other.recall({ ref, thread: 'looking' })
    expect(digestOf(Buffer.from(part?.data ?? '', 'base64'))).toBe(digestOf(files(note).shown))
  })
})

test('parts of another project cannot be read by their hash or reference', async () => {
  await stored('private', sessionOf('heron'))
  const { items } = await client.messages.list({ thread: 'private', limit: 1 })
  const ref = items[0]?.parts?.[0]?.reference ?? ''
  const stranger = pipeline.clientOf('stranger')
  await expect(stranger.recall({ ref, thread: 'private' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
})

test('an erasure removes bytes without another reference, and keeps those with one', async () => {
  const shared = sessionOf('osprey')
  await stored('kept', shared.slice(0, 1))
  await stored('gone', [...shared, ...sessionOf('curlew')])
  for (const format of [...providerFormats, 'neutral'] as const) {
    await client.contexts.build({ thread: 'gone', format, budget: 60_000 })
  }
  const words = ['osprey shown', 'osprey screenshot', 'curlew shown', 'curlew screenshot', 'curlew report']
  await client.threads.delete('gone')
  const places = await searchDatabase(pipeline.databaseUrl, words)
  expect([...places].map(([word, at]) => [word, [...at]])).toEqual([['osprey shown', ['heddle.part_contents.content']]])
  await client.threads.delete('kept')
  expect(await searchDatabase(pipeline.databaseUrl, words)).toEqual(new Map())
})

describe('a recorded session with screenshots', () => {
  const { shown, screenshot } = files('recorded')
  const anthropicImage = (data: Buffer) => ({
    type: 'image',
    source: { type: 'base64', media_type: 'image/png', data: data.toString('base64') },
  })
  const dataUrl = (data: Buffer) => `data:image/png;base64,${data.toString('base64')}`
  const claudeCode = [
    {
      type: 'user',
      uuid: 'u1',
      message: { role: 'user', content: [{ type: 'text', text: 'See:' }, anthropicImage(shown)] },
    },
    {
      type: 'assistant',
      uuid: 'a1',
      message: {
        id: 'm1',
        role: 'assistant',
        content: [{ type: 'tool_use', id: 't1', name: 'Read', input: { file_path: 'a.png' } }],
      },
    },
    {
      type: 'user',
      uuid: 'u2',
      message: {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 't1', content: [anthropicImage(screenshot)] }],
      },
    },
  ]
  const anthropic = claudeCode.map(({ message }) => message)
  const openAi = [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'See:' },
        { type: 'image_url', image_url: { url: dataUrl(shown), detail: 'low' } },
        { type: 'image_url', image_url: { url: dataUrl(screenshot) } },
      ],
    },
    { role: 'assistant', content: 'Seen.' },
  ]

  test.each([
    ['claude-code', claudeCode.map((record) => JSON.stringify(record)).join('\n')],
    ['anthropic', JSON.stringify(anthropic)],
    ['openai', JSON.stringify(openAi)],
  ] as const)('in the format %s keeps them when it is imported', async (format, text) => {
    const folder = await mkdtemp(join(tmpdir(), 'heddle-parts-'))
    try {
      await writeFile(join(folder, 'session'), text)
      const [thread] = parseSession(text, { fileName: 'session', format }).threads
      await stored(`imported ${format}`, thread?.messages.map(({ input }) => input) ?? [])
      const context = await client.contexts.build({ thread: `imported ${format}`, format: 'anthropic', budget: 60_000 })
      checkDelivered(context)
      const json = JSON.stringify(context.messages)
      for (const bytes of [shown, screenshot]) expect(json).toContain(bytes.toString('base64'))
      expect(json).not.toContain('[image: image/png]')
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})

test('a part of the maximum size passes the queue and is read back to the byte', async () => {
  const bytes = Buffer.alloc(limits.partBytesMax, 'a long recording ')
  const part = { type: 'document' as const, mediaType: 'application/zip', data: bytes.toString('base64') }
  await stored('large', [{ role: 'user', content: 'Keep this.', parts: [part] }])
  const { items } = await client.messages.list({ thread: 'large' })
  const recalled = await client.recall({ ref: items[0]?.parts?.[0]?.reference ?? '', thread: 'large' })
  expect(digestOf(Buffer.from(recalled.part?.data ?? '', 'base64'))).toBe(digestOf(bytes))
})

test('parts that break a rule are refused with the field, the rule and the size', async () => {
  const append = (parts: unknown, content = 'x') =>
    client.messages.append({
      agent: AGENT,
      thread: 'refused',
      messages: [{ role: 'user', content, parts } as NewMessage],
    })
  const image = { type: 'image', mediaType: 'image/png', data: 'aGVk' }
  const cases: [unknown, string, RegExp][] = [
    [[{ ...image, data: 'not base64!' }], 'messages.0.parts.0.data', /must be base64.*a text of 11 characters/],
    [[{ ...image, data: 'A'.repeat(28_000_000) }], 'messages.0.parts.0.data', /must encode at most 20971520 bytes/],
    [[{ ...image, mediaType: undefined }], 'messages.0.parts.0.mediaType', /is needed beside data/],
    [[{ ...image, mediaType: 'audio/wav' }], 'messages.0.parts.0.mediaType', /must begin with image\//],
    [[{ ...image, url: 'https://example.com/a.png' }], 'messages.0.parts.0.data', /or one of url and fileId/],
    [[{ type: 'image', url: 'file:///etc/passwd' }], 'messages.0.parts.0.url', /must begin with http/],
    [[{ ...image, offset: 2 }], 'messages.0.parts.0.offset', /must be at most 1/],
    [
      [
        { ...image, offset: 1 },
        { ...image, offset: 0 },
      ],
      'messages.0.parts.1.offset',
      /must be at least 1/,
    ],
    [Array.from({ length: 101 }, () => image), 'messages.0.parts', /must hold at most 100 parts.*a list of 101/],
    [
      [1, 2].map(() => ({ ...image, data: 'A'.repeat(24_000_000) })),
      'messages.0.parts',
      /must have at most 33554432 bytes together; these have 36000000/,
    ],
  ]
  for (const [parts, field, rule] of cases) {
    const error: unknown = await append(parts).then(
      () => null,
      (thrown: unknown) => thrown,
    )
    expect(error).toMatchObject({ field, message: expect.stringMatching(rule) })
    expect(String(error)).not.toContain('AAAA')
  }
})

test('the erasure of an agent removes the bytes of all its threads', async () => {
  const agent = 'watcher'
  const append = (thread: string) =>
    client.messages.append({ agent, thread, messages: sessionOf('siskin'), newAgentRollingWindow: null })
  await Promise.all(['first', 'second', 'third'].map(append))
  await client.agents.delete(agent)
  expect(await searchDatabase(pipeline.databaseUrl, ['siskin shown', 'siskin screenshot'])).toEqual(new Map())
})
