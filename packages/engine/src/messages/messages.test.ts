import { newId } from '@heddle/client/calls'
import type { AppendOptions, NewMessage } from '@heddle/client/interface'
import { ConflictError, type IngestJob } from '@heddle/contracts'
import { messageFingerprint } from '@heddle/core'
import type { Queues } from '@heddle/queue'
import { expect, test } from 'vitest'
import { ManualClock } from '../../../../test/support/src/manual-clock.js'
import { KnownContexts } from '../contexts/known-contexts.js'
import { LikelyPrepared } from '../setup/likely-prepared.js'
import type { EngineContext } from '../setup/options.js'
import { appendMessages } from './messages.js'
import { Ordinals } from './ordinals.js'

/** What nobody answers fails with what the queue said. */
class NoReply {
  fail: (error: unknown) => void = () => {}
  readonly result = new Promise<never>((_, reject) => {
    this.fail = reject
  })
}

/** A client over a queue that takes or refuses jobs as a test decides, and a store that holds some messages. */
function appending(take: (job: IngestJob) => Promise<void>, stored: ReadonlyMap<string, string> = new Map()) {
  const queues = {
    inbox: 'inbox',
    admit: async () => {},
    acquireShare: () => () => {},
    add: async (_stage: string, job: IngestJob) => await take(job),
    expectReply: () => new NoReply(),
  } as unknown as Queues
  const parts: EngineContext = {
    store: { inProject: async () => stored } as unknown as EngineContext['store'],
    queues,
    project: 'p',
    projectId: '018f0000-0000-7000-8000-000000000000',
    settings: {},
    settingLayers: [],
    snapshotsFolder: null,
    log: undefined,
    clock: new ManualClock(),
    ordinals: new Ordinals(),
    likelyPrepared: new LikelyPrepared(),
    embedder: null,
    reranker: null,
    directAppends: null,
    knownContexts: new KnownContexts(),
    previewer: null,
    ensureProjectName: () => null,
  }
  return (messages: readonly NewMessage[], ack: 'queued' | 'stored', more: Pick<AppendOptions, 'idsAreNew'> = {}) =>
    appendMessages(parts, { agent: 'a', thread: 't', messages, ack, ...more })
}

const texts = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ role: 'user' as const, content: `${index}` }))

test('an invalid message is named by its index in the append, whichever job it is sent in', async () => {
  const append = appending(async ({ messages }) => {
    const index = messages.findIndex(({ message }) => message.content === '237')
    if (index >= 0) throw new ConflictError(`messages.${index}.id: is taken`, { field: `messages.${index}.id` })
  })
  await expect(append(texts(300), 'queued')).rejects.toMatchObject({
    code: 'CONFLICT',
    field: 'messages.237.id',
    message: 'messages.237.id: is taken',
  })
})

test('a message that is stored with other content is named by its index, although only chosen ids are looked up', async () => {
  const id = newId()
  const stored = new Map([[id, messageFingerprint({ id, role: 'user', content: 'before' })]])
  const append = appending(async () => {}, stored)
  await expect(append([...texts(2), { id, role: 'user', content: 'now' }], 'stored')).rejects.toMatchObject({
    code: 'CONFLICT',
    field: 'messages.2.id',
  })
})

test('with idsAreNew messages are sent without a query of the store', async () => {
  const sent: string[] = []
  const id = newId()
  const isStored = new Map([[id, messageFingerprint({ id, role: 'user', content: 'new' })]])
  const append = appending(async ({ messages }) => {
    sent.push(...messages.map(({ message }) => message.id))
    throw new ConflictError('taken')
  }, isStored)
  await expect(append([{ id, role: 'user', content: 'new' }], 'stored', { idsAreNew: true })).rejects.toThrow('taken')
  expect(sent).toEqual([id])
})

test('after a refused job, no further job of the append is sent', async () => {
  let sent = 0
  const append = appending(async () => {
    if (sent++ === 0) throw new ConflictError('taken')
    await new Promise((resolve) => setImmediate(resolve))
  })
  await expect(append(texts(3_000), 'queued')).rejects.toMatchObject({ code: 'CONFLICT' })
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
  // Those that were under way beside it.
  expect(sent).toBe(16)
})

test('a message that occurs twice in an append is sent once and counted as repeated', async () => {
  const sent: string[] = []
  const append = appending(async ({ messages }) => void sent.push(...messages.map(({ message }) => message.content)))
  const twice = { id: newId(), role: 'user' as const, content: 'twice' }
  const appended = await append([twice, ...texts(2), { ...twice }], 'queued')
  expect(appended).toMatchObject({ stored: 3, repeated: 1 })
  expect(sent).toEqual(['twice', '0', '1'])
})

test('two different messages with one id in an append are refused before anything is sent', async () => {
  let sent = 0
  const append = appending(async () => void sent++)
  const one = { id: newId(), role: 'user' as const, content: 'one' }
  await expect(append([...texts(300), one, { ...one, content: 'other' }], 'queued')).rejects.toMatchObject({
    code: 'CONFLICT',
    field: 'messages.301.id',
  })
  expect(sent).toBe(0)
})
