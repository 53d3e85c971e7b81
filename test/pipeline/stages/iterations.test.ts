import { randomUUID } from 'node:crypto'
import type { Client, NewIteration } from '@heddle/client/interface'
import { RetryableError } from '@heddle/contracts'
import { placedFingerprint, projectIdOf, type SummaryRequest, summarizeExtractively, threadIdOf } from '@heddle/core'
import type { Summarizer } from '@heddle/models'
import { appendMessages } from '@heddle/store'
import { waitFor } from '@heddle/test-support'
import { beforeEach, describe, expect, test } from 'vitest'
import { pipelineOfTests, queueBackends } from '../support.js'

const AGENT = 'runner'
const THREAD = 'nightly'
const GOAL = 'Make the login work'

/** Records its requests, and can fail or block. */
class RecordingSummarizer implements Summarizer {
  readonly name = 'recording'
  readonly requests: SummaryRequest[] = []
  broken = false
  /** Called before each answer. */
  before: () => Promise<void> = async () => {}

  async summarize(request: SummaryRequest): Promise<string> {
    this.requests.push(request)
    await this.before()
    if (this.broken) throw new RetryableError('SERVICE_UNAVAILABLE', 'the model is away')
    return summarizeExtractively(request)
  }

  /** The iterations in each request. */
  read = () =>
    this.requests.map(({ messages }) => messages.map(({ text }) => Number(/^## Iteration (\d+)/.exec(text)?.[1])))
}

const outputOf = (number: number) =>
  number === 4 ? '' : `<progress>Step ${number} of the login is done in src/step${number}.ts.</progress>`

function iterations(from: number, to: number): NewIteration[] {
  return Array.from({ length: to - from + 1 }, (_, index) => {
    const number = from + index
    return {
      id: `018f0000-0000-7000-8000-${String(number).padStart(12, '0')}`,
      prompt: `step ${number}`,
      output: outputOf(number),
      cliUsed: 'codex',
    }
  })
}

describe.each(queueBackends())('a run on $title', ({ mode, skip }) => {
  describe.skipIf(skip)('with its progress summary', () => {
    const tests = pipelineOfTests(mode)
    const { start } = tests
    // Iterations are stored as messages, and a thread is settled once these were counted and embedded.
    beforeEach(() => start(['ingest', 'prune', 'embed']))
    let made = 0
    const freshClient = async (): Promise<{ client: Client; wake: () => Promise<void>; projectId: string }> => {
      const project = `loop-${++made}`
      const client = tests.pipeline.clientOf(project)
      await client.agents.put(AGENT, { settings: { strategy: 'sandwich' } })
      await client.threads.put(THREAD, { agent: AGENT, goal: GOAL })
      const projectId = projectIdOf(project)
      const threadId = threadIdOf(projectId, THREAD)
      return { client, projectId, wake: () => tests.pipeline.queues.wake('summarize', { projectId, threadId }) }
    }
    const append = (client: Client, from: number, to: number) =>
      client.iterations.append({ agent: AGENT, thread: THREAD, iterations: iterations(from, to) })
    const settled = (client: Client) => client.threads.waitUntilSettled(THREAD)
    const summaryOf = async (client: Client) => (await client.iterations.loop(THREAD)).summary

    async function whenIdle(): Promise<void> {
      await waitFor(
        async () =>
          (await tests.pipeline.queues.stats()).every(
            ({ waiting, active, delayed }) => waiting + active + delayed === 0,
          ),
        { what: 'idle queues' },
      )
    }

    test('adds each iteration that leaves the window to the summary, and writes it anew at the tenth', async () => {
      const { client } = await freshClient()
      const summarizer = new RecordingSummarizer()
      await start(['summarize'], { summarizer })
      for (let number = 1; number <= 12; number++) {
        await append(client, number, number)
        await settled(client)
      }
      expect(summarizer.read()).toEqual([[1], [2], [3], [4], [1, 2, 3, 4, 5], [6], [7]])
      expect(summarizer.requests.map(({ purpose, tokensMax }) => [purpose, tokensMax])).toEqual(
        summarizer.requests.map(() => ['progress', 2_000]),
      )
      expect(summarizer.requests.map(({ previousSummary }) => previousSummary !== null)).toEqual([
        false,
        true,
        true,
        true,
        false,
        true,
        true,
      ])
      const summary = await summaryOf(client)
      expect(summary).toMatchObject({
        version: 7,
        coveredCount: 7,
        coveredFrom: 1,
        coveredTo: 7,
        summarizer: 'recording',
      })
      for (const number of [1, 2, 3, 5, 6, 7]) expect(summary?.text).toContain(`src/step${number}.ts`)
      expect(summary?.text).toContain('Iterations without output: 4')
    })

    test('reaches the same summary when the worker wakes late, and when it is woken repeatedly', async () => {
      const [early, late] = [await freshClient(), await freshClient()]
      const summarizer = new RecordingSummarizer()
      await append(late.client, 1, 12)
      await start(['summarize'], { summarizer })
      for (let number = 1; number <= 12; number++) {
        await append(early.client, number, number)
        await settled(early.client)
      }
      await late.wake()
      await settled(late.client)
      const { text, coveredTo, version } = (await summaryOf(late.client)) ?? {}
      expect({ coveredTo, version }).toEqual({ coveredTo: 7, version: 3 })
      expect((await summaryOf(early.client))?.text).toBe(text)

      const asked = summarizer.requests.length
      await append(late.client, 1, 12)
      for (const _ of [1, 2, 3]) await late.wake()
      await whenIdle()
      expect(summarizer.requests.length).toBe(asked)
      expect(await summaryOf(late.client)).toMatchObject({ text, version })
    })

    test('is not changed by a failing model, and the next iteration retries', async () => {
      const { client } = await freshClient()
      const summarizer = new RecordingSummarizer()
      await start(['summarize'], { summarizer })
      await append(client, 1, 6)
      await settled(client)
      const before = await summaryOf(client)
      expect(before).toMatchObject({ coveredTo: 1 })

      summarizer.broken = true
      await append(client, 7, 7)
      await waitFor(() => summarizer.requests.length > 1, { what: 'a summary that fails' })
      const loop = await client.iterations.loop(THREAD)
      expect(loop.summary).toEqual(before)
      expect(loop.iterations.map(({ iterationNumber }) => iterationNumber)).toEqual([2, 3, 4, 5, 6, 7])

      summarizer.broken = false
      await append(client, 8, 8)
      await settled(client)
      expect(await summaryOf(client)).toMatchObject({ version: 3, coveredTo: 3 })
      expect(await client.threads.get(THREAD)).toMatchObject({ lastError: null })
    })

    test('refuses an invalid summary', async () => {
      const { client } = await freshClient()
      const summarizer = new RecordingSummarizer()
      let refusals = 1
      const answer = summarizer.summarize.bind(summarizer)
      summarizer.summarize = async (request) => {
        const text = await answer(request)
        return --refusals >= 0 ? 'Please provide the conversation.' : text
      }
      await start(['summarize'], { summarizer })
      await append(client, 1, 6)
      await settled(client)
      expect(summarizer.read()).toEqual([[1], [1]])
      expect(await summaryOf(client)).toMatchObject({ version: 1, text: expect.stringContaining('src/step1.ts') })
    })

    test('names iterations without output, whoever writes the summary', async () => {
      const { client } = await freshClient()
      const summarizer = new RecordingSummarizer()
      summarizer.summarize = async () => 'The login works in three of its steps.'
      await start(['summarize'], { summarizer })
      await append(client, 1, 12)
      await settled(client)
      expect((await summaryOf(client))?.text).toBe(
        'The login works in three of its steps.\n\nIterations without output: 4',
      )
    })

    test('takes a goal of any length, of which a context shows 1,000 tokens', async () => {
      const { client } = await freshClient()
      await start(['assemble'])
      const goal = `${GOAL}: ${'every page of the shop, '.repeat(5_000)}`
      await client.threads.put(THREAD, { agent: AGENT, goal })
      expect((await client.iterations.loop(THREAD)).goal).toBe(goal)
      const { messages, tokensUsed, receipt } = await client.contexts.build({ thread: THREAD, strategy: 'iterations' })
      expect(JSON.stringify(messages)).toContain(`# Goal\\n${GOAL}: every page`)
      expect(tokensUsed).toBeLessThan(1_200)
      expect(receipt.notes).toContain('the goal was cut to fit')
      const chat = await client.contexts.build({ thread: THREAD, strategy: 'sandwich', message: 'hi' })
      expect(chat.tokensUsed).toBeLessThan(1_200)
    })

    test('shows the progress at the end of a long output', async () => {
      const { client } = await freshClient()
      await start(['assemble'])
      const told = '<progress>The checkout is done.</progress>'
      const output = `${'a line of a log\n'.repeat(3_000)}${told}`
      await client.iterations.append({ agent: AGENT, thread: THREAD, iterations: [{ prompt: 'go on', output }] })
      const { messages } = await client.contexts.build({ thread: THREAD, strategy: 'iterations' })
      expect(JSON.stringify(messages)).toContain(`[…]\\n${told}`)
    })

    test('starts anew after a clear, which voids the summary being written', async () => {
      const { client } = await freshClient()
      const summarizer = new RecordingSummarizer()
      summarizer.before = async () => {
        summarizer.before = async () => {}
        await client.agents.clear(AGENT)
      }
      await start(['summarize'], { summarizer })
      await append(client, 1, 8)
      await settled(client)
      expect(await client.iterations.loop(THREAD)).toMatchObject({ summary: null, totalIterations: 0, iterations: [] })
      await append(client, 9, 14)
      await settled(client)
      const loop = await client.iterations.loop(THREAD)
      expect(loop).toMatchObject({ totalIterations: 6, summary: { coveredFrom: 9, coveredTo: 9, version: 1 } })
      expect(loop.iterations.map(({ iterationNumber }) => iterationNumber)).toEqual([10, 11, 12, 13, 14])
    })

    test('gets a new summary when a late iteration arrives in the covered range', async () => {
      const { client } = await freshClient()
      await start(['summarize'], { summarizer: new RecordingSummarizer() })
      const all = iterations(1, 8).map((iteration, index) => ({ ...iteration, iterationNumber: index + 1 }))
      const late = {
        ...all[1],
        id: randomUUID(),
        output: 'Decided to use JWT instead of sessions.',
      } as (typeof all)[number]
      const send = (some: typeof all) => client.iterations.append({ agent: AGENT, thread: THREAD, iterations: some })
      await send(all.filter(({ iterationNumber }) => iterationNumber !== 2))
      await settled(client)
      expect(await summaryOf(client)).toMatchObject({ coveredCount: 2, coveredTo: 3 })
      await send([late])
      await settled(client)
      const summary = await summaryOf(client)
      expect(summary).toMatchObject({ coveredCount: 3, coveredTo: 3 })
      expect(summary?.text).toContain('Decided to use JWT instead of sessions. (iteration 2)')
    })

    test('is exported with its summary, which is not written again after an import', async () => {
      const { client } = await freshClient()
      const summarizer = new RecordingSummarizer()
      await start(['summarize'], { summarizer, reconcile: { everyMs: 100, patienceMs: 0 } })
      await append(client, 1, 12)
      await settled(client)
      const lines: string[] = []
      for await (const line of client.threads.export(THREAD)) lines.push(line.trimEnd())
      const asked = summarizer.requests.length
      const { client: other, wake } = await freshClient()
      async function* read() {
        yield* lines
      }
      await other.threads.import(read, { as: THREAD })
      await wake()
      await settled(other)
      expect(summarizer.requests.length).toBe(asked)
      expect(await summaryOf(other)).toEqual(await summaryOf(client))
    })

    test('of twelve iterations gives a context whose receipt explains every part and every iteration', async () => {
      const { client } = await freshClient()
      await start(['summarize', 'assemble'], { summarizer: new RecordingSummarizer() })
      await append(client, 1, 12)
      await settled(client)
      const build = (request: object = {}) =>
        client.contexts.build({ thread: THREAD, strategy: 'iterations', ...request })
      const context = await build()
      const summary = await summaryOf(client)
      expect(context.messages).toEqual([
        {
          role: 'user',
          content: [
            `# Goal\n${GOAL}`,
            `# Progress Summary (iterations 1-7)\n${summary?.text}`,
            `# Recent Iterations\n${[10, 11, 12].map((number) => `## Iteration ${number}\n${outputOf(number)}`).join('\n\n')}`,
            '# Current State\n- Total iterations: 12\n- Current CLI: codex',
            '# Instructions\nContinue working toward the goal. Output:\n- `<progress>what you accomplished</progress>` for progress\n- `<promise>COMPLETE</promise>` when goal is fully achieved',
          ].join('\n\n'),
        },
      ])
      expect(context).toMatchObject({
        strategy: 'iterations',
        summaryUsed: true,
        receipt: { iterations: 12, notes: [] },
      })
      expect(
        context.receipt.entries
          .filter(({ iterations: count }) => count !== undefined)
          .map(({ mode, fromIteration, toIteration }) => `${mode} ${fromIteration}-${toIteration}`),
      ).toEqual(['covered 1-7', 'raw 10-10', 'raw 11-11', 'raw 12-12', 'left-out 8-9'])
      expect(context.receipt.stateId).toBe((await build()).receipt.stateId)
      expect(context.tokensUsed).toBeLessThan(1_000)

      const wider = await build({ iterations: { rawWindowSize: 8, shownIterations: 8 } })
      expect(wider.receipt).toMatchObject({
        stateId: null,
        notes: [expect.stringContaining('4 iterations were summarized')],
      })
      const small = await build({ budget: 240, format: 'anthropic', model: 'claude-3-opus' })
      expect(small.tokensUsed).toBeLessThanOrEqual(240)
      await expect(build({ budget: 100 })).rejects.toMatchObject({ code: 'BUDGET_TOO_SMALL' })
    })

    test('gives a context that covers the iterations outside of the window before the first summary', async () => {
      const { client } = await freshClient()
      await start(['assemble'])
      await append(client, 1, 12)
      const { receipt, messages } = await client.contexts.build({ thread: THREAD, strategy: 'iterations' })
      expect(JSON.stringify(messages)).toContain('# Progress Summary (iterations 1-7)')
      expect(receipt.notes).toEqual([expect.stringContaining('7 iterations were summarized for this request only')])
    })

    test('gives contexts by the settings of its agent, and names the reason for messages left out', async () => {
      const { client } = await freshClient()
      await client.agents.put(AGENT, { settings: { strategy: 'iterations', iterations: { shownIterations: 1 } } })
      await start(['ingest', 'assemble', 'summarize', 'prune'])
      await client.messages.append({
        agent: AGENT,
        thread: THREAD,
        ack: 'stored',
        messages: [{ role: 'user', content: 'hi' }],
      })
      await append(client, 1, 2)
      const { receipt, strategy } = await client.contexts.build({ thread: THREAD })
      expect(strategy).toBe('iterations')
      expect(receipt).toMatchObject({ eligible: 1, iterations: 2 })
      expect(receipt.entries.filter(({ mode }) => mode === 'left-out').map(({ reason }) => reason)).toEqual([
        'in the window of the newest 5, of which a prompt shows the last 1',
        'the strategy shows iterations instead of messages',
      ])
    })

    test('is continued by the reconciler after a lost wake-up', async () => {
      const { client, projectId } = await freshClient()
      const messages = iterations(1, 6).map(({ output, prompt }, ordinal) => {
        const input = { id: randomUUID(), role: 'assistant' as const, content: output }
        const fingerprint = placedFingerprint({ message: input, iteration: { prompt } })
        return { input, iteration: { prompt }, ordinal, orderedAtMs: Date.now(), tokensEstimate: 10, fingerprint }
      })
      const appends = [{ requestId: randomUUID(), agent: AGENT, thread: THREAD, messages }]
      await tests.pipeline.store.inProject(projectId, (tx) => appendMessages(tx, { projectId, appends }))
      await start(['summarize'], { reconcile: { everyMs: 100, patienceMs: 0 } })
      await settled(client)
      expect(await summaryOf(client)).toMatchObject({ coveredTo: 1, summarizer: 'extractive' })
    })
  })
})
