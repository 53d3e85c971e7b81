import type { PlacedMessage } from '@heddle/contracts'
import { comparePositions, projectIdOf, threadIdOf } from '@heddle/core'
import { listMessages } from '@heddle/store'
import { waitFor } from '@heddle/test-support'
import { chances } from '@heddle/test-support/samples/chances'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPipeline, type Pipeline, queueBackends } from '../pipeline/support.js'
import { AGENT, openTenant, session, type Tenant } from '../pipeline/tenant.js'
import { validateOpenAiChat } from '../support/src/validators/index.js'
import { startWorkers } from './workers.js'

const KILLS = 10
const THREADS = 6
const TURNS = 90
const SEED = 20_260_212
/** Ten processes start one after the other: under a minute on an idle machine, a few on a busy one. */
const PATIENCE = { timeout: 300_000 }
/** A killed worker's job is processed again after its lock has expired and the next check: about 25 s. */
const SETTLE_MS = 60_000

// Embedded differs from postgres only in the origin of the server, not in the work of the workers.
describe.each(queueBackends())('workers that are killed on $title', ({ mode, skip }) => {
  describe.skipIf(skip)('while messages are appended', () => {
    let pipeline: Pipeline

    beforeAll(async () => {
      pipeline = await openPipeline(mode)
    })
    afterAll(() => pipeline?.close())

    test(
      'lose and duplicate nothing, keep the order, and all threads settle after the last restart',
      PATIENCE,
      async () => {
        const tenant = await openTenant(pipeline, 'killed', { remember: 'rules' })
        const threads = Array.from({ length: THREADS }, (_, index) => ({
          name: `thread-${index}`,
          messages: session(`killed-${index}`, TURNS).map(withFact),
        }))
        const total = threads.reduce((sum, { messages }) => sum + messages.length, 0)
        const chance = chances(SEED)
        // Each thread continues after every kill, so that each meets workers that are being killed.
        const progress = { stored: 0, kills: 0 }
        const allowed = () => ((progress.kills + 1) / (KILLS + 1)) * total
        const appending = Promise.all(
          threads.map(({ name, messages }) => appendAll(tenant, name, messages, chance, progress, allowed)),
        )
        appending.catch(() => {})

        let running = await startWorkers(pipeline)
        for (; progress.kills < KILLS; progress.kills++) {
          const next = startWorkers(pipeline)
          const share = (progress.kills + chance()) / (KILLS + 1)
          await waitFor(() => progress.stored >= share * total, {
            what: 'some progress',
            timeoutMs: 60_000,
            everyMs: 2,
          })
          running.kill('SIGKILL')
          await running.exited
          running = await next
        }
        await appending

        for (const { name, messages } of threads) {
          await tenant.client.threads.waitUntilSettled(name, { deadlineMs: SETTLE_MS })
          await expectIntact(pipeline, name, messages)
          await expectFacts(tenant, name, messages)
          const context = await tenant.client.contexts.build({ thread: name, format: 'openai-chat' })
          expect(validateOpenAiChat(context.messages as never)).toEqual([])
          expect(context.tokensUsed).toBeLessThanOrEqual(context.budget)
          expect(context.receipt).toMatchObject({ eligible: messages.length, imported: messages.length })
        }
        running.kill('SIGKILL')
        await running.exited
      },
    )
  })
})

/** A person states a value in each message. */
function withFact(placed: PlacedMessage, index: number): PlacedMessage {
  const { message } = placed
  if (message.role !== 'user') return placed
  return {
    ...placed,
    message: { ...message, content: `${message.content} The latency of part ${index} is ${index} ms.` },
  }
}

/** Facts of each message of a person are stored, and those that are read on demand are the same. */
async function expectFacts({ client }: Tenant, thread: string, messages: readonly PlacedMessage[]): Promise<void> {
  const { items } = await client.facts.list(AGENT, { thread, limit: 100 })
  const said = messages.filter(({ message }) => message.role === 'user').map(({ message }) => message.id)
  expect([...new Set(items.map(({ sources }) => sources[0]?.messageId))].sort()).toEqual(said.sort())
  expect(await client.facts.extract(thread)).toMatchObject({ facts: items.length, added: 0 })
}

/** Appends a thread's messages a few at a time, each lot after the previous one is acknowledged as stored. */
async function appendAll(
  { client }: Tenant,
  thread: string,
  messages: readonly PlacedMessage[],
  chance: () => number,
  progress: { stored: number },
  allowed: () => number,
): Promise<void> {
  for (let at = 0; at < messages.length; ) {
    const lot = messages.slice(at, at + 1 + Math.floor(chance() * 8))
    await waitFor(() => progress.stored <= allowed(), { what: 'leave to go on', timeoutMs: 120_000, everyMs: 2 })
    const appended = await client.messages.append({
      agent: AGENT,
      thread,
      messages: lot.map(({ message }) => message),
      ack: 'stored',
      deadlineMs: 60_000,
    })
    expect(appended.stored + appended.repeated).toBe(lot.length)
    at += lot.length
    progress.stored += lot.length
  }
}

async function expectIntact({ store }: Pipeline, thread: string, sent: readonly PlacedMessage[]): Promise<void> {
  const projectId = projectIdOf('killed')
  const threadId = threadIdOf(projectId, thread)
  const stored = await store.inProject(projectId, (tx) => listMessages(tx, { threadId, afterSeq: 0, limit: 10_000 }))
  expect(stored.map(({ seq }) => seq)).toEqual(sent.map((_, index) => index + 1))
  const ordered = [...stored].sort(comparePositions)
  expect(ordered.map(({ id, content }) => ({ id, content }))).toEqual(
    sent.map(({ message: { id, content } }) => ({ id, content })),
  )
}
