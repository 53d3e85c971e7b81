import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createAssembler } from '@heddle/assemble'
import type { Client, NewMessage } from '@heddle/client/interface'
import { PermanentError, RetryableError, type Snapshot } from '@heddle/contracts'
import { type SnapshotFile, SUMMARY_ERASED, sentencesFault } from '@heddle/core'
import { fixedSummarizer, type Summarizer } from '@heddle/models'
import { createLogger, systemClock } from '@heddle/runtime'
import { findSnapshotsWithoutSummary, sweepSnapshotFiles } from '@heddle/store'
import { waitFor } from '@heddle/test-support'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openPipeline, type Pipeline, queueBackends } from '../support.js'

const AGENT = 'coder'
const RECONCILE = { everyMs: 100, patienceMs: 0 }

const say = (content: string): NewMessage => ({ role: 'user', content })
const log = createLogger({ level: 'silent', name: 'test' })

/** Counts its summaries, and writes two sentences unless `fail` throws. */
function counting(fail: (count: number) => void = () => undefined) {
  const summarizer: Summarizer & { count: number } = {
    name: 'counting',
    count: 0,
    async summarize({ messages }) {
      fail(++summarizer.count)
      return `There were ${messages.length} messages. The last said ${messages.at(-1)?.text}.`
    },
  }
  return summarizer
}

describe.each(queueBackends())('a snapshot that lost its summary to an erasure on $title', ({ mode, skip }) => {
  describe.skipIf(skip)('with its workers', () => {
    let pipeline: Pipeline
    let client: Client
    beforeEach(async () => {
      pipeline = await openPipeline(mode, { rollingWindow: null })
      client = pipeline.client
    })
    afterEach(() => pipeline.close())

    /** A snapshot of two threads, of which one was erased since; no worker runs any more. */
    async function savedAndErased(): Promise<Snapshot> {
      const stages = await pipeline.start(['ingest', 'assemble'], { summarizer: counting() })
      await client.messages.append({ agent: AGENT, thread: 'gone', messages: [say('the secret canary')] })
      await client.messages.append({ agent: AGENT, thread: 'stays', messages: [say('one'), say('two')] })
      const saved = await client.snapshots.save({ agent: AGENT })
      expect(saved.summary).toContain('There were 3 messages.')
      await stages.stop()
      await client.threads.delete('gone')
      return saved
    }

    const current = async (id: string) => {
      const { items } = await client.snapshots.history(AGENT)
      return items.find((each) => each.id === id)
    }
    const renewed = (id: string) =>
      waitFor(async () => {
        const snapshot = await current(id)
        return snapshot?.summary === SUMMARY_ERASED ? null : snapshot
      })
    const waiting = () => findSnapshotsWithoutSummary(pipeline.store, { limit: 10 })

    async function fileOf({ fileName }: Snapshot): Promise<SnapshotFile> {
      const names = await readdir(pipeline.snapshotsFolder, { recursive: true })
      const name = names.find((each) => each.endsWith(fileName)) ?? ''
      return JSON.parse(await readFile(join(pipeline.snapshotsFolder, name), 'utf8'))
    }

    test('gets another one of the remaining messages, in its row and its file, once', async () => {
      const saved = await savedAndErased()
      expect(await current(saved.id)).toMatchObject({ summary: SUMMARY_ERASED, messageCount: 2 })
      expect(await waiting()).toEqual([{ projectId: pipeline.projectId, snapshotId: saved.id }])
      const summarizer = counting()
      const summary = 'There were 2 messages. The last said two.'
      const stages = await pipeline.start(['assemble'], { summarizer, reconcile: RECONCILE })
      expect(await renewed(saved.id)).toMatchObject({ summary, summaryError: null, messageCount: 2 })
      expect(await client.snapshots.get(saved.id)).toMatchObject({ summary, message_count: 2 })
      expect(await waiting()).toEqual([])
      await sweepSnapshotFiles(pipeline.store, { folder: pipeline.snapshotsFolder })
      expect(await fileOf(saved)).toEqual(await client.snapshots.get(saved.id))
      expect(await sweepSnapshotFiles(pipeline.store, { folder: pipeline.snapshotsFolder })).toEqual({
        removed: 0,
        rewritten: 0,
      })
      // The same job again, as after a lost acknowledgement.
      const asked = { projectId: pipeline.projectId, snapshotId: saved.id }
      await Promise.all([pipeline.queues.add('assemble', asked), pipeline.queues.add('assemble', asked)])
      await waitFor(async () => {
        const stats = (await pipeline.queues.stats()).find(({ stage }) => stage === 'assemble')
        return stats?.waiting === 0 && stats.active === 0
      })
      await stages.stop()
      expect(summarizer.count).toBe(1)
      expect(await client.snapshots.restore(saved.id)).toMatchObject({ messages: 2, erased: 1 })
    })

    test('keeps waiting for one if its worker is killed half way, and gets it from the next', async () => {
      const saved = await savedAndErased()
      const killed = new AbortController()
      const hanging: Summarizer = {
        name: 'hanging',
        async summarize(_, signal) {
          killed.abort(new Error('killed'))
          signal?.throwIfAborted()
          throw new Error('the signal was not passed on')
        },
      }
      const assembler = createAssembler({
        store: pipeline.store,
        clock: systemClock,
        log,
        settings: {},
        summarizers: fixedSummarizer(hanging),
      })
      const payload = { projectId: pipeline.projectId, snapshotId: saved.id }
      const job = { payload, jobId: '1', attempt: 1, attemptsMax: 8, signal: killed.signal }
      await expect(assembler(job, { publish: () => undefined })).rejects.toThrow('killed')
      expect(await current(saved.id)).toMatchObject({ summary: SUMMARY_ERASED })
      expect(await waiting()).toHaveLength(1)
      await pipeline.start(['assemble'], { summarizer: counting(), reconcile: RECONCILE })
      expect((await renewed(saved.id))?.summary).toBe('There were 2 messages. The last said two.')
    })

    test('is not given a summary of messages that were erased while it was written', async () => {
      const saved = await savedAndErased()
      const { items } = await client.messages.list({ thread: 'stays' })
      const late: Summarizer = {
        name: 'late',
        async summarize({ messages }) {
          if (messages.length === 2) await client.messages.erase({ thread: 'stays', messageId: items[1]?.id ?? '' })
          return `There were ${messages.length} messages. The last said ${messages.at(-1)?.text}.`
        },
      }
      await pipeline.start(['assemble'], { summarizer: late, reconcile: RECONCILE })
      expect((await renewed(saved.id))?.summary).toBe('There were 1 messages. The last said one.')
    })

    test('is tried again after a failure of the model', async () => {
      const saved = await savedAndErased()
      const summarizer = counting((count) => {
        if (count < 3) throw new RetryableError('SERVICE_UNAVAILABLE', 'the model is away')
      })
      await pipeline.start(['assemble'], { summarizer, reconcile: RECONCILE })
      expect(await renewed(saved.id)).toMatchObject({
        summary: 'There were 2 messages. The last said two.',
        summaryError: null,
      })
      expect(summarizer.count).toBe(3)
    })

    test('is summarized without a model if the model fails for good', async () => {
      const saved = await savedAndErased()
      const summarizer = counting(() => {
        throw new PermanentError('UNAUTHORIZED', 'the key was refused')
      })
      await pipeline.start(['assemble'], { summarizer, reconcile: RECONCILE })
      const found = await renewed(saved.id)
      expect(found?.summaryError).toBe('UNAUTHORIZED: the key was refused')
      expect(sentencesFault(found?.summary ?? '')).toBeNull()
      expect(found?.summary).not.toContain('canary')
      expect(summarizer.count).toBe(1)
      expect(await waiting()).toEqual([])
    })
  })
})
