import { randomBytes } from 'node:crypto'
import { errorFromData, type IterationInput, type MessageInput } from '@heddle/contracts'
import { estimateTokens, messageFingerprint, placedFingerprint, projectIdOf, threadIdOf } from '@heddle/core'
import {
  type Append,
  type AppendOutcome,
  appendMessages,
  findOriginals,
  holdHead,
  insertMarks,
  openStore,
  type PreparedMessage,
  type Store,
  storedIterations,
} from '@heddle/store'
import { migratedDatabase } from '@heddle/test-support'
import { afterAll, beforeAll } from 'vitest'

export const PROJECT = projectIdOf('store tests')
export const OTHER_PROJECT = projectIdOf('other store tests')
export const RECEIVED_AT_MS = Date.parse('2026-02-12T14:30:00Z')

export interface TestStore {
  readonly url: string
  readonly store: Store
  drop(): Promise<void>
}

/** A store of their own for the tests of a file. */
export function storeOfTests(): TestStore {
  let opened: TestStore
  beforeAll(async () => {
    opened = await freshStore()
  })
  afterAll(() => opened?.drop())
  return {
    get url() {
      return opened.url
    },
    get store() {
      return opened.store
    },
    drop: () => opened.drop(),
  }
}

/** A migrated database of its own, and a store on it. */
export async function freshStore(): Promise<TestStore> {
  const database = await migratedDatabase()
  const store = openStore({ url: database.url })
  return {
    url: database.url,
    store,
    async drop() {
      await store.close()
      await database.drop()
    },
  }
}

export function newId(): string {
  const hex = randomBytes(16).toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`
}

export function prepared(
  fields: Partial<MessageInput> = {},
  place: { ordinal?: number; orderedAtMs?: number } = {},
): PreparedMessage {
  const input: MessageInput = { id: newId(), role: 'user', content: 'hello', ...fields }
  return {
    input,
    ordinal: place.ordinal ?? 0,
    orderedAtMs: place.orderedAtMs ?? RECEIVED_AT_MS,
    tokensEstimate: estimateTokens(input.content),
    fingerprint: messageFingerprint(input),
  }
}

export function append(messages: readonly PreparedMessage[], fields: Partial<Append> = {}): Append {
  return { requestId: newId(), agent: 'weaver', thread: 'cloth', messages, ...fields }
}

export async function appendAll(
  store: Store,
  appends: readonly Append[],
  projectId = PROJECT,
): Promise<AppendOutcome[]> {
  return await store.inProject(projectId, (tx) => appendMessages(tx, { projectId, appends }))
}

/** Appends, fails the test on a refusal, and returns the outcome. */
export async function appendOne(store: Store, one: Append, projectId = PROJECT): Promise<AppendOutcome> {
  const [outcome] = await appendAll(store, [one], projectId)
  if (outcome === undefined || outcome.error !== null) throw new Error(`the append failed: ${outcome?.error?.detail}`)
  return outcome
}

/** An iteration as an append has it: the message with its output. */
export function preparedIteration(
  fields: Partial<IterationInput> = {},
  happenedAtMs = RECEIVED_AT_MS,
): PreparedMessage {
  const { id, output, timestamp, ...iteration } = { id: newId(), prompt: 'go on', output: 'done', ...fields }
  const sentAt = timestamp === undefined ? {} : { sentAt: timestamp }
  const orderedAtMs = timestamp === undefined ? happenedAtMs : Date.parse(timestamp)
  const one = prepared({ id, role: 'assistant', content: output, ...sentAt }, { orderedAtMs })
  return { ...one, iteration, fingerprint: placedFingerprint({ message: one.input, iteration }) }
}

/** Appends iterations. @returns their numbers, and how many were new @throws the error of a refusal */
export async function appendIterations(
  store: Store,
  given: { readonly agent: string; readonly thread: string; readonly iterations: readonly PreparedMessage[] },
): Promise<{ numbers: number[]; stored: number }> {
  const { agent, thread, iterations } = given
  const [outcome] = await appendAll(store, [append(iterations, { agent, thread })])
  if (outcome === undefined) throw new Error('no outcome')
  if (outcome.error !== null) throw errorFromData(outcome.error)
  const ids = iterations.map(({ input }) => input.id)
  const known = await store.inProject(PROJECT, (tx) =>
    storedIterations(tx, { threadId: threadIdOf(PROJECT, thread), ids }),
  )
  return { numbers: ids.map((id) => known.get(id)?.number ?? 0), stored: outcome.stored }
}

/** Adds marks for some messages at the head of a thread, as a restore does, all at one time of the conversation. */
export async function leaveMarks(
  store: Store,
  threadId: string,
  { ids, orderedAtMs }: { ids: readonly string[]; orderedAtMs: number },
): Promise<string[]> {
  return await store.inProject(PROJECT, async (tx) => {
    const head = await holdHead(tx, threadId)
    if (head === null) throw new Error('no thread')
    const originals = await findOriginals(tx, { threadId, ids, bounds: { clearedSeq: 0, sinceMs: null } })
    const marks = originals.map((original, ordinal) => {
      const input = { id: newId(), role: original.role, content: '' }
      return { original, input, ordinal, fingerprint: messageFingerprint(input) }
    })
    await insertMarks(tx, head, { marks, proposedAtMs: orderedAtMs })
    return marks.map(({ input }) => input.id)
  })
}
