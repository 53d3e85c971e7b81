import { randomUUID } from 'node:crypto'
import type { Client, NewMessage } from '@heddle/client/interface'
import { type FormatName, type IngestJob, RetryableError } from '@heddle/contracts'
import { messageReference, shortCode, threadIdOf } from '@heddle/core'
import { createLogger } from '@heddle/runtime'
import { insertDeadLetter } from '@heddle/store'
import { waitFor } from '@heddle/test-support'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { searchDatabase, searchFiles, searchRedis } from '../canaries.js'
import { openPipeline, type Pipeline, queueBackends } from '../support.js'

const AGENT = 'singer'
const THREAD = 'song'
const SISTER = 'echo'

/** Every place that can hold content of a message. Each has a distinct word, so that the places are not confused. */
const kinds = ['content', 'call', 'result', 'thinking', 'metadata', 'source', 'reply', 'asked', 'late'] as const
type Kind = (typeof kinds)[number]
const word = (of: string, kind: Kind) => `${of}qq${kind}`
const wordsOf = (of: string) => kinds.map((kind) => word(of, kind))
const GONE = wordsOf('gone')
const STAYS = wordsOf('stays').filter((each) => each !== word('stays', 'late'))

/** Four messages a turn. Of forty turns, the eleventh is erased: a summary covers it. */
const ERASED_TURN = 10
const FROM_SEQ = ERASED_TURN * 4 + 1
const RANGE = { thread: THREAD, fromSeq: FROM_SEQ, toSeq: FROM_SEQ + 3 }

const turns: NewMessage[] = Array.from({ length: 40 }, (_, turn): NewMessage[] => {
  const of = turn === ERASED_TURN ? 'gone' : 'stays'
  return [
    {
      role: 'user',
      content:
        turn === ERASED_TURN ? word(of, 'asked') : `Look at ${word(of, 'content')} and ${word(of, 'asked')} ${turn}.`,
      sourceId: `${word(of, 'source')}-${turn}`,
    },
    {
      role: 'assistant',
      content: `I decided to use ${word(of, 'content')} ${turn}.`,
      metadata: { note: word(of, 'metadata') },
      thinking: [{ text: `I think of ${word(of, 'thinking')}.`, signature: 's' }],
      toolCalls: [{ id: `call-${turn}`, name: 'Bash', arguments: { command: `echo ${word(of, 'call')} ${turn}` } }],
    },
    { role: 'tool_result', toolCallId: `call-${turn}`, content: `${word(of, 'result')} ${turn}\n`.repeat(40) },
    { role: 'assistant', content: `Done with ${turn}: it is decided that ${word(of, 'reply')} is used.` },
  ]
}).flat()

describe.each(queueBackends())('an erasure of messages on $title', ({ mode, skip }) => {
  describe.skipIf(skip)('of a thread with data in every table, queue and file', () => {
    let pipeline: Pipeline
    let client: Client
    let contextIds: string[]
    let snapshotIds: string[]
    let erasedIds: string[]
    beforeAll(async () => {
      pipeline = await openPipeline(mode, { rollingWindow: null, budget: 4_000 })
      client = pipeline.client
      const stages = await pipeline.start()
      contextIds = await seed()
      const saved = [await client.snapshots.save({ agent: AGENT, description: 'whole' })]
      snapshotIds = saved.map(({ id }) => id)
      const page = await client.messages.list({ thread: THREAD, limit: 200 })
      erasedIds = page.items.slice(FROM_SEQ - 1, FROM_SEQ + 3).map(({ id }) => id)
      await stages.stop()
      await leaveJobs()
    }, 120_000)
    afterAll(() => pipeline?.close())

    async function seed(): Promise<string[]> {
      const built: string[] = []
      const build = async (request: Parameters<Client['contexts']['build']>[0]) =>
        built.push((await client.contexts.build(request)).id)
      for (const [thread, from, to] of [
        [THREAD, 0, ERASED_TURN * 4],
        [SISTER, 0, 8],
      ] as const)
        await client.messages.append({ agent: AGENT, thread, messages: turns.slice(from, to) })
      // As an agent does it: the context is built with the message, which is appended afterwards.
      await build({ thread: THREAD, message: word('gone', 'asked') })
      await client.messages.append({ agent: AGENT, thread: THREAD, messages: turns.slice(ERASED_TURN * 4) })
      await client.threads.waitUntilSettled(THREAD, { deadlineMs: 60_000 })
      for (const format of ['neutral', 'openai-chat', 'anthropic'] satisfies FormatName[])
        await build({ thread: THREAD, format, budget: 1_000_000 })
      await build({ thread: THREAD, message: 'and now?' })
      await build({
        thread: SISTER,
        message: 'what was decided?',
        scope: { threads: [SISTER, THREAD] },
        budget: 1_000_000,
      })
      await client.threads.waitUntilSettled(THREAD, { deadlineMs: 60_000 })
      await client.threads.waitUntilSettled(SISTER, { deadlineMs: 60_000 })
      return built
    }

    const messageOf = (content: string, id: string = randomUUID()): IngestJob['messages'][number] => ({
      message: { id, role: 'user', content },
      ordinal: 0,
      orderedAt: new Date().toISOString(),
    })
    const jobOf = (messages: IngestJob['messages']): IngestJob => ({
      projectId: pipeline.projectId,
      requestId: randomUUID(),
      agent: AGENT,
      thread: THREAD,
      messages,
    })

    /** The same messages again: in a job of their own, in one with others, in one that is delayed, and in dead letters. */
    async function leaveJobs(): Promise<void> {
      const { queues, store, projectId } = pipeline
      const again = messageOf(word('gone', 'late'), erasedIds[0])
      const worker = await queues.defineWorker({
        stage: 'ingest',
        handler: async () => {
          throw new RetryableError('SERVICE_UNAVAILABLE', 'away', { retryAfter: 900 })
        },
        recordDeadLetter: async () => {},
        log: createLogger({ level: 'silent', name: 'test' }),
      })
      await queues.add('ingest', jobOf([again]))
      await waitFor(async () => (await queues.stats())[0]?.delayed === 1, { what: 'a delayed job' })
      await worker.close()
      await queues.add('ingest', jobOf([again]))
      await queues.add('ingest', jobOf([again, messageOf('kept in its job')]))
      for (const messages of [[again], [again, messageOf('kept in its letter')]]) {
        await store.inProject(projectId, (tx) =>
          insertDeadLetter(tx, {
            stage: 'ingest',
            jobId: randomUUID(),
            threadId: threadIdOf(projectId, THREAD),
            payload: jobOf(messages),
            error: { code: 'INTERNAL', detail: 'broke' },
            attempts: 8,
          }),
        )
      }
    }

    async function search(words: readonly string[]): Promise<Record<string, string[]>> {
      const { queueBackend, databaseUrl, prefix, snapshotsFolder } = pipeline
      const found = [await searchDatabase(databaseUrl, words), await searchFiles(snapshotsFolder, words)]
      if (queueBackend.kind === 'redis') found.push(await searchRedis(queueBackend.url, prefix, words))
      const places = words.map((each) => [each, found.flatMap((of) => [...(of.get(each) ?? [])])] as const)
      return Object.fromEntries(places.filter(([, of]) => of.length > 0))
    }
    const foundOf = async (words: readonly string[]) => Object.keys(await search(words)).sort()

    test('removes every trace of them, and nothing of the others', async () => {
      expect(await foundOf(GONE)).toEqual([...GONE].sort())
      expect(await foundOf(STAYS)).toEqual([...STAYS].sort())
      const shown = await client.messages.list({ thread: THREAD, limit: 200 })

      const result = await client.messages.erase(RANGE)
      expect(result).toMatchObject({ kind: 'messages', name: THREAD, jobs: 3, finished: true })
      expect(result.removed).toMatchObject({ messages: 4, snapshots_rewritten: 1, dead_letters: 2 })
      expect(await search(GONE)).toEqual({})
      expect(await foundOf(STAYS)).toEqual([...STAYS].sort())
      expect(await foundOf(['kept in its job', 'kept in its letter'])).toHaveLength(2)

      const left = await client.messages.list({ thread: THREAD, limit: 200 })
      expect(left.items.map(({ seq }) => seq)).toEqual(shown.items.map(({ seq }) => seq))
      expect(left.items.filter(({ keptAside }) => keptAside === 'erased').map(({ seq }) => seq)).toEqual(
        [0, 1, 2, 3].map((place) => FROM_SEQ + place),
      )
      const isLeft = ({ seq }: { seq: number }) => seq < FROM_SEQ || seq > FROM_SEQ + 3
      expect(left.items.filter(isLeft)).toEqual(shown.items.filter(isLeft))
    })

    test('says of the contexts that showed them that they were erased', async () => {
      for (const id of contextIds)
        await expect(client.contexts.get(id)).rejects.toMatchObject({
          code: 'NOT_FOUND',
          field: 'context',
          message: expect.stringContaining('erased'),
        })
      const [snapshotId = ''] = snapshotIds
      const file = await client.snapshots.get(snapshotId)
      expect(file.message_count).toBe(turns.length + 8 - 4)
    })

    test('refuses to recall them', async () => {
      await expect(
        client.recall({ ref: messageReference(shortCode(erasedIds[2] ?? '')), thread: THREAD }),
      ).rejects.toMatchObject({
        code: 'NOT_FOUND',
        field: 'message',
        hint: expect.stringContaining('erased'),
      })
    })

    test('makes the compactions again without them', async () => {
      const stages = await pipeline.start()
      await client.threads.waitUntilSettled(THREAD, { deadlineMs: 60_000 })
      const { messages, receipt, summaryUsed } = await client.contexts.build({ thread: THREAD, message: 'go on' })
      await stages.stop()
      expect(summaryUsed).toBe(true)
      expect(JSON.stringify(messages)).toContain(word('stays', 'reply'))
      expect(receipt.entries.filter(({ mode: how }) => how === 'covered')).not.toEqual([])
      expect(await search(GONE)).toEqual({})
    })

    test('keeps the other messages of a job that arrives while another one is replaced', async () => {
      const thread = 'crowded'
      const stages = await pipeline.start()
      await client.messages.append({ agent: AGENT, thread, messages: [{ role: 'user', content: 'goneqqcrowd' }] })
      await client.threads.waitUntilSettled(thread, { deadlineMs: 60_000 })
      await stages.stop()
      const [first] = (await client.messages.list({ thread })).items
      const again = messageOf('goneqqcrowd', first?.id)
      const { queues } = pipeline
      await queues.add('ingest', { ...jobOf([again, messageOf('kept of the first')]), thread })
      const add = queues.add.bind(queues)
      const adding = vi.spyOn(queues, 'add').mockImplementationOnce(async (stage, payload, bytes) => {
        await add('ingest', { ...jobOf([again, messageOf('kept of the second')]), thread })
        await add(stage, payload, bytes)
      })
      const erased = await client.messages.erase({ thread, messageId: first?.id ?? '' })
      adding.mockRestore()
      expect(erased).toMatchObject({ jobs: 2, finished: true })
      expect(await search(['goneqqcrowd'])).toEqual({})
      const later = await pipeline.start(['ingest'])
      await waitFor(async () => (await client.messages.list({ thread })).items.length >= 3, { what: 'both jobs' })
      await later.stop()
      const contents = (await client.messages.list({ thread })).items.map(({ content }) => content)
      expect(contents.sort()).toEqual(['', 'kept of the first', 'kept of the second'])
    })

    test('removes the requests that ask with their text from jobs and dead letters, and no others', async () => {
      const thread = 'asked late'
      const stages = await pipeline.start()
      await client.messages.append({ agent: AGENT, thread, messages: [{ role: 'user', content: 'goneqqquestion' }] })
      await client.threads.waitUntilSettled(thread, { deadlineMs: 60_000 })
      await stages.stop()
      const { queues, store, projectId } = pipeline
      const threadId = threadIdOf(projectId, thread)
      const error = { code: 'INTERNAL', detail: 'broke' } as const
      for (const message of ['goneqqquestion', 'keptqqquestion']) {
        const asked = { request: { thread, message }, deadlineAtMs: Date.now() + 900_000 }
        const payload = { projectId, contextId: randomUUID(), threadId, asked }
        await queues.add('assemble', payload)
        await store.inProject(projectId, (tx) =>
          insertDeadLetter(tx, { stage: 'assemble', jobId: randomUUID(), threadId, payload, error, attempts: 8 }),
        )
      }
      const erased = await client.messages.erase({ thread, fromSeq: 1, toSeq: 1 })
      expect(erased).toMatchObject({ jobs: 1, removed: { messages: 1, dead_letters: 1 }, finished: true })
      expect(await search(['goneqqquestion'])).toEqual({})
      expect(await foundOf(['keptqqquestion'])).toHaveLength(1)
      expect(await queues.removeJobs(({ stage }) => stage === 'assemble')).toBe(1)
    })

    test('keeps nothing of a job that failed after it', async () => {
      const thread = 'late letters'
      const stages = await pipeline.start(['ingest'])
      const said = ['goneqqletter', 'keptqqletter'].map((content) => ({
        id: randomUUID(),
        role: 'user' as const,
        content,
      }))
      await client.messages.append({ agent: AGENT, thread, messages: said })
      await stages.stop()
      await client.messages.erase({ thread, messageId: said[0]?.id ?? '' })
      const { store, projectId } = pipeline
      const error = { code: 'INTERNAL', detail: 'broke' } as const
      const insert = (messages: readonly object[]) =>
        store.inProject(projectId, (tx) =>
          insertDeadLetter(tx, {
            stage: 'ingest',
            jobId: randomUUID(),
            threadId: threadIdOf(projectId, thread),
            payload: { thread, messages: messages.map((message) => ({ message })) },
            error,
            attempts: 8,
          }),
        )
      expect(await insert(said.slice(0, 1))).toBeNull()
      const id = await insert(said)
      expect(await search(['goneqqletter'])).toEqual({})
      const payload = { thread, messages: [{ message: said[1] }] }
      const rows = await store.inProject(
        projectId,
        (tx) => tx`select payload from heddle.dead_letters where id = ${id}`,
      )
      expect(rows).toEqual([{ payload }])
    })

    test('is idempotent, and stores nothing of them again', async () => {
      const stages = await pipeline.start(['ingest'])
      expect(await client.messages.erase({ thread: THREAD, messageId: erasedIds[1] ?? '' })).toMatchObject({
        removed: {},
        jobs: 0,
        finished: true,
      })
      const again = turns.slice(FROM_SEQ - 1, FROM_SEQ).map((message) => ({ ...message, id: erasedIds[0] ?? '' }))
      expect(await client.messages.append({ agent: AGENT, thread: THREAD, messages: again })).toMatchObject({
        stored: 0,
        repeated: 1,
      })
      // The acknowledgement counts a message with a new id as stored, but its source is known.
      const bySource = turns.slice(FROM_SEQ - 1, FROM_SEQ)
      await client.messages.append({ agent: AGENT, thread: THREAD, messages: bySource })
      await stages.stop()
      expect(await search(GONE)).toEqual({})
    })

    test('includes the prompt of an iteration, and the progress summaries that cover it', async () => {
      const stages = await pipeline.start()
      const thread = 'a run'
      const words = ['goneqqprompt', 'goneqqoutput', 'goneqqmarker']
      const iterations = Array.from({ length: 12 }, (_, index) => ({
        id: randomUUID(),
        prompt: index === 1 ? 'goneqqprompt' : `go on ${index}`,
        output: index === 1 ? 'It is decided: goneqqoutput is used.' : `It is decided: ${index} is used.`,
        progressMarkers: index === 1 ? ['goneqqmarker'] : [`step ${index}`],
      }))
      await client.iterations.append({ agent: AGENT, thread, iterations })
      await client.threads.waitUntilSettled(thread, { deadlineMs: 60_000 })
      expect(await foundOf(words)).toEqual([...words].sort())
      const { items } = await client.messages.list({ thread })
      const found = items.find(({ content }) => content.includes('goneqqoutput'))
      await client.messages.erase({ thread, messageId: found?.id ?? '' })
      await client.threads.waitUntilSettled(thread, { deadlineMs: 60_000 })
      await stages.stop()
      expect(await search(words)).toEqual({})
      expect(await client.iterations.append({ agent: AGENT, thread, iterations })).toMatchObject({ stored: 0 })
      const { items: left } = await client.iterations.list(thread)
      expect(left.map(({ iterationNumber }) => iterationNumber)).toEqual(iterations.map((_, index) => index + 1))
    })

    test('refuses what is not there, with its field', async () => {
      const unknown = randomUUID()
      await expect(client.messages.erase({ thread: 'nowhere', messageId: unknown })).rejects.toMatchObject({
        code: 'NOT_FOUND',
        field: 'thread',
      })
      await expect(client.messages.erase({ thread: THREAD, messageId: unknown })).rejects.toMatchObject({
        code: 'NOT_FOUND',
        field: 'message',
      })
      await expect(client.messages.erase({ thread: THREAD, fromSeq: 900, toSeq: 901 })).rejects.toMatchObject({
        code: 'NOT_FOUND',
        field: 'message',
      })
      await expect(client.messages.erase({ thread: THREAD })).rejects.toMatchObject({
        code: 'VALIDATION_ERROR',
        message: expect.not.stringContaining(' all '),
      })
    })
  })
})
