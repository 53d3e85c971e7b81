import type { OpenCodeEvent } from '@heddle/contracts'
import { waitFor } from '@heddle/test-support'
import { type Called, OpenCodeSession } from '@heddle/test-support/opencode/session'
import { expect, test } from 'vitest'
import type { SessionEvent } from '../../../plugins/opencode/events.js'
import { Heddle } from '../../../plugins/opencode/heddle.js'
import { startRelay } from '../adapters/relay.js'
import { type Served, servePipeline } from '../doors/http-support.js'
import type { Pipeline } from '../support.js'

let pipeline: Pipeline
let http: Served
servePipeline((opened) => {
  ;({ pipeline, http } = opened)
})

/** With more time than users give it, for a busy machine. */
const open = (id: string, more = {}) => OpenCodeSession.start(Heddle, id, { url: http.url, answerMs: 30_000, ...more })
const referenceIn = (text: string) => /\[recall:(msg-[0-9a-z]+)\]/.exec(text)?.[1] ?? ''
const lines = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, at) => line(at)).join('\n')
const log = (count: number, of = 'unit') => lines(count, (at) => `ok ${at} - converts the ${of} number ${at}`)

async function recall(thread: string, ref: string): Promise<string> {
  return (await pipeline.client.recall({ ref, thread, offset: 0, limit: 1_000_000 })).content
}

async function storedIn(thread: string) {
  return (await pipeline.client.messages.list({ thread, limit: 500, order: 'asc' })).items
}

test('the events of the plugin are those that the gateway accepts', () => {
  const accepted: (event: SessionEvent) => OpenCodeEvent = (event) => event
  expect(accepted({ type: 'compacting', session: 'a' })).toMatchObject({ type: 'compacting' })
})

test('words are recorded as they were said, outputs byte for byte, and long ones become stubs', async () => {
  const session = await open('recorded')
  await session.prompt('Fix the conversion in @src/units.ts.')
  await session.say('I will look at it.')
  const read = await session.call('read', { filePath: '/repo/src/units.ts' }, log(1_500, 'length'))
  const part = await session.call('read', { filePath: '/repo/src/units.ts', offset: 10 }, log(1_500, 'part'))
  const short = await session.call('bash', { command: 'git status' }, 'nothing to commit')
  const served = await session.call('github_issue', { number: 4 }, '', [
    { type: 'text', text: log(900, 'issue') },
    { type: 'text', text: log(900, 'answer') },
  ])
  const shown = await session.call('github_picture', { number: 4 }, '', [
    { type: 'text', text: log(1_500, 'picture') },
    { type: 'image', data: '', mimeType: 'image/png' },
  ])
  await session.fail('bash', { command: 'npm run lint' }, 'lint failed')
  const own = await session.call('heddle_recall', { ref: 'msg-1' }, log(1_500, 'recalled'))
  await session.say('The conversion is fixed.')

  for (const stub of [read.output, served.output]) expect(stub.length).toBeLessThan(6_000)
  expect(read.output).toContain('converts the length number 1499')
  expect(await recall('recorded', referenceIn(read.output))).toBe(log(1_500, 'length'))
  expect(await recall('recorded', referenceIn(served.output))).toBe(`${log(900, 'issue')}\n${log(900, 'answer')}`)
  expect([part.output, short.output, own.output]).toEqual([
    log(1_500, 'part'),
    'nothing to commit',
    log(1_500, 'recalled'),
  ])
  expect(shown.output).toBe(log(1_500, 'picture'))
  expect(read.metadata).toMatchObject({ exit: 0, heddle: { reference: referenceIn(read.output) } })
  const stored = await storedIn('recorded')
  expect(stored.filter(({ role }) => role === 'user' || role === 'assistant').map(({ content }) => content)).toEqual([
    'Fix the conversion in @src/units.ts.',
    'I will look at it.',
    'The conversion is fixed.',
  ])
  const results = stored.filter(({ role }) => role === 'tool_result')
  expect(results.map(({ content }) => content)).toEqual([
    log(1_500, 'length'),
    log(1_500, 'part'),
    'nothing to commit',
    `${log(900, 'issue')}\n${log(900, 'answer')}`,
    log(1_500, 'picture'),
    'lint failed',
  ])
  expect(results.map(({ isError }) => isError ?? false)).toEqual([false, false, false, false, false, true])
  await session.remove()
  const { items: processes } = await pipeline.client.processes.list('recorded')
  expect(processes).toMatchObject([{ name: 'opencode', status: 'ended: deleted' }])
})

test('an event that comes twice is recorded once, and answered in the same way', async () => {
  const session = await open('repeated')
  const first = await session.call('bash', { command: 'npm test' }, log(1_500))
  const second = await session.repeat('bash', { command: 'npm test' }, log(1_500))
  expect(second).toEqual(first)
  expect(await storedIn('repeated')).toHaveLength(2)
})

test('a compaction is given the constraints, last requests, next steps and files, and so is each request after it', async () => {
  const session = await open('compacted')
  await session.prompt('Write every change into the changelog. First fix the unit conversion.')
  await session.call('edit', { filePath: '/repo/src/dates.ts', oldString: 'a', newString: 'b' }, 'Edit applied.')
  await session.call('bash', { command: 'npm test' }, log(100))
  await session.prompt('now the date parser, please: "31.12." has to be the end of THIS year')
  const [rule] = await storedIn('compacted')
  await pipeline.client.pins.set({ thread: 'compacted', messageId: rule?.reference ?? '' })

  const [text = '', ...more] = await session.compact('The user wants dates to be parsed.')
  expect(more).toEqual([])
  expect(text.length).toBeLessThanOrEqual(10_000)
  const [, constraints = '', requests = ''] = text.split(/\n\n## /)
  expect(constraints).toContain('Write every change into the changelog')
  expect(requests).toContain('now the date parser, please: "31.12." has to be the end of THIS year')
  expect(text).toContain('src/dates.ts: edited once (msg-')

  await session.prompt('Go on.')
  const textsOf = (messages: Awaited<ReturnType<typeof session.request>>) =>
    messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])))
  const request = await session.request()
  expect(textsOf(request).filter((each) => each === text)).toHaveLength(1)
  expect(await session.request()).toEqual(request)
  // OpenCode's own summary was not said by anyone.
  expect((await storedIn('compacted')).map(({ content }) => content)).not.toContain(
    'The user wants dates to be parsed.',
  )
  await waitFor(async () => {
    const { items } = await pipeline.client.snapshots.history('opencode')
    return items.some(({ description }) => description === 'before a compaction of compacted')
  })
})

test('where OpenCode clears an output, the request says where all of it is', async () => {
  const session = await open('cleared')
  await session.prompt('Run the tests.')
  await session.call('bash', { command: 'npm test' }, log(200))
  session.clearOutputs()
  const [part] = (await session.request()).flatMap(({ parts }) => parts.filter(({ type }) => type === 'tool'))
  if (part?.type !== 'tool' || part.state.status !== 'completed') throw new Error('no call')
  expect(part.state.time.compacted).toBeUndefined()
  expect(await recall('cleared', referenceIn(part.state.output))).toBe(log(200))
})

test('without Heddle the agent goes on, hears of it once, and what was said and done is recorded afterwards', async () => {
  const relay = await startRelay(() => http.url)
  const session = await open('interrupted', { url: relay.url, retryMs: 50 })
  await session.prompt('Fix the tests.')
  await relay.stop()
  const took: number[] = []
  const timed = async <Result>(work: Promise<Result>): Promise<Result> => {
    const startedMs = performance.now()
    const result = await work
    took.push(performance.now() - startedMs)
    return result
  }
  const output = log(1_500)
  const call: Called = await timed(session.call('bash', { command: 'npm test' }, output))
  await timed(session.say('One fails.'))
  await timed(session.fail('bash', { command: 'npm run lint' }, 'lint failed'))
  await timed(session.prompt('Then fix it.'))
  expect(call.output).toBe(output)
  expect(Math.max(...took)).toBeLessThan(100)
  expect(session.toasts).toEqual([expect.stringContaining('Heddle did not answer')])

  await relay.start()
  // It tries again in the background, and makes up for all before it answers.
  await waitFor(
    async () => {
      await session.say('Done.')
      return (await storedIn('interrupted')).filter(({ content }) => content === 'Done.').length > 1
    },
    { timeoutMs: 60_000 },
  )
  await session.remove()
  const stored = await storedIn('interrupted')
  expect(stored.map(({ content }) => content).filter((content) => content !== '' && content !== 'Done.')).toEqual([
    'Fix the tests.',
    output,
    'One fails.',
    'lint failed',
    'Then fix it.',
  ])
  expect(session.toasts).toHaveLength(1)
  await relay.stop()
})

test('a refused event is said once, and changes nothing', async () => {
  const session = await open('refused', { query: '?unknown=1' })
  await session.prompt('Fix the tests.')
  expect((await session.call('bash', { command: 'npm test' }, log(1_500))).output).toBe(log(1_500))
  expect(session.toasts).toEqual([expect.stringContaining('Heddle refused an event of this session: 400')])
})
