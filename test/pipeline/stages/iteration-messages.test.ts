import { randomUUID } from 'node:crypto'
import type { Client, NewIteration } from '@heddle/client/interface'
import type { ContextResult } from '@heddle/contracts'
import { describe, expect, test } from 'vitest'
import { pipelineOfTests, queueBackends } from '../support.js'

const AGENT = 'runner'
const OUTPUT = 'I moved the flamingo cache to port qqport4711, since the pelican proxy needs the other one.'

const found = (client: Client, query: string) => async () =>
  (await client.search({ query, agent: AGENT })).items.map(({ text }) => text)
const memoriesOf = ({ receipt }: ContextResult) =>
  receipt.entries.flatMap(({ section, mode, memory }) =>
    section === 'memories' && mode !== 'left-out' ? [memory?.messageId] : [],
  )

function iterations(outputs: readonly string[]): NewIteration[] {
  return outputs.map((output, index) => ({ id: randomUUID(), prompt: `step ${index + 1}`, output }))
}

describe.each(queueBackends())('iterations as messages on $title', ({ mode, skip }) => {
  describe.skipIf(skip)('are', () => {
    const tests = pipelineOfTests(mode)

    test('sent through the queue, and acknowledged when they are queued or when they are stored', async () => {
      const { client } = tests.pipeline
      const given = { agent: AGENT, thread: 'acknowledged', iterations: iterations(['one', 'two']) }
      // No worker runs: the queue accepts them nevertheless.
      const queued = await client.iterations.append({ ...given, ack: 'queued' })
      expect(queued).toMatchObject({ stored: 2, iterationNumbers: [] })
      await expect(client.iterations.list('acknowledged')).rejects.toMatchObject({ code: 'NOT_FOUND' })
      const late = client.iterations.append({ ...given, ack: 'stored', deadlineMs: 100 })
      await expect(late).rejects.toMatchObject({ code: 'TIMEOUT' })
      await tests.start(['ingest'])
      await expect
        .poll(async () => (await client.iterations.list('acknowledged').catch(() => ({ items: [] }))).items.length)
        .toBe(2)
      const stored = await client.iterations.append({
        ...given,
        iterations: [...given.iterations, ...iterations(['three'])],
      })
      expect(stored).toMatchObject({ stored: 1, repeated: 2, iterationNumbers: [1, 2, 3] })
    })

    test('stored in their order, however many jobs they take, with errors that name them', async () => {
      const { client } = tests.pipeline
      await tests.start(['ingest'])
      const given = {
        agent: AGENT,
        thread: 'long',
        iterations: iterations(Array.from({ length: 250 }, (_, at) => `${at}`)),
      }
      const { iterationNumbers, stored } = await client.iterations.append(given)
      expect({ iterationNumbers, stored }).toEqual({
        iterationNumbers: given.iterations.map((_, at) => at + 1),
        stored: 250,
      })
      const refused = (fault: object, ack: 'queued' | 'stored' = 'stored') => {
        const faulty = iterations(Array.from({ length: 150 }, () => '')).map((one, at) =>
          at === 120 ? { ...one, ...fault } : one,
        )
        return client.iterations.append({ agent: AGENT, thread: 'long', iterations: faulty, ack })
      }
      await expect(refused({ iterationNumber: 1 })).rejects.toMatchObject({
        code: 'CONFLICT',
        field: 'iterations.120.iterationNumber',
      })
      await expect(refused({ cliUsed: 'NUL \0' })).rejects.toMatchObject({ field: 'iterations.120.cliUsed' })
      const [{ id }] = given.iterations as [NewIteration]
      await expect(refused({ id })).rejects.toMatchObject({ code: 'CONFLICT', field: 'iterations.120.id' })
      await expect(refused({}, 'queued')).rejects.toMatchObject({
        code: 'VALIDATION_ERROR',
        field: 'iterations.0.iterationNumber',
      })
    })

    test('embedded, found, recalled and remembered, shown in no context of messages, and erased with their thread', async () => {
      const { client } = tests.pipeline
      await tests.start()
      await client.messages.append({ agent: AGENT, thread: 'run', messages: [{ role: 'user', content: 'Begin.' }] })
      await client.iterations.append({
        agent: AGENT,
        thread: 'run',
        iterations: [{ prompt: 'move the cache', output: OUTPUT }],
      })
      await expect.poll(found(client, 'flamingo pelican'), { timeout: 20_000 }).toContain(OUTPUT)

      const [iteration] = (await client.iterations.list('run')).items
      expect(await client.recall({ ref: iteration?.reference ?? '', thread: 'run' })).toMatchObject({ content: OUTPUT })
      const hits = (await client.search({ query: 'flamingo pelican', agent: AGENT })).items
      expect(hits.find(({ messageId }) => messageId === iteration?.id)?.ref).toContain(iteration?.reference)

      const shown = await client.contexts.build({ thread: 'run' })
      expect(JSON.stringify(shown.messages)).not.toContain('qqport4711')
      expect(shown.receipt).toMatchObject({ eligible: 1, ineligible: { iteration: 1 } })

      await client.messages.append({ agent: AGENT, thread: 'talk', messages: [{ role: 'user', content: 'Hello.' }] })
      // Until it is embedded, memories are found by words alone, and fewer of them have the least score.
      await expect.poll(found(client, 'hello'), { timeout: 20_000 }).toContain('Hello.')
      const message = 'Which port has the flamingo cache?'
      const talk = await client.contexts.build({ thread: 'talk', message, memories: true })
      expect(memoriesOf(talk)).toContain(iteration?.id)
      expect(JSON.stringify(talk.messages)).toContain('qqport4711')

      // A later run remembers it, and the run itself shows it once, with its reference.
      await client.threads.put('next run', { agent: AGENT, goal: message })
      const run = (thread: string) => client.contexts.build({ thread, strategy: 'iterations', memories: true })
      const next = await run('next run')
      expect(memoriesOf(next)).toContain(iteration?.id)
      expect(JSON.stringify(next.messages)).toContain('qqport4711')
      await client.threads.put('run', { agent: AGENT, goal: message })
      const own = await run('run')
      expect(memoriesOf(own)).not.toContain(iteration?.id)
      expect(own.receipt).toMatchObject({ iterations: 1, ineligible: {} })
      const shownHere = own.receipt.entries.filter(({ iterations: count }) => count !== undefined)
      expect(shownHere).toMatchObject([{ mode: 'raw', fromIteration: 1, reference: iteration?.reference }])

      await client.threads.delete('run')
      expect(await found(client, 'flamingo pelican')()).not.toContain(OUTPUT)
      const after = await client.contexts.build({ thread: 'talk', message, memories: true })
      expect(memoriesOf(after)).toEqual([])
    })
  })
})
