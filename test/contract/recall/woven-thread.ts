import type { Client } from '@heddle/client/interface'
import type { JsonObject, NewItem, PartialSettings } from '@heddle/contracts'
import { projectIdOf } from '@heddle/core'
import {
  archiveEntries,
  clearAgent,
  insertPrunings,
  insertState,
  loadAgent,
  type NewContextState,
  recordTokenCounts,
  voidStates,
} from '@heddle/store'
import fc from 'fast-check'
import { expect } from 'vitest'
import {
  append,
  appendOne,
  newId,
  prepared,
  preparedIteration,
  RECEIVED_AT_MS,
  type TestStore,
} from '../store/support.js'
import { clientOn } from './support.js'

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.constantFrom('', 'NUL \0', 'half \ud83d', '😀\n"quoted"\\', '\u2028', '{"__proto__": 1}'),
)
const object = fc.dictionary(
  fc.string({ minLength: 1, maxLength: 5 }),
  fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<JsonObject[string]>,
  { maxKeys: 3 },
)
const generatedMessage = fc.record(
  {
    content: text,
    isError: fc.boolean(),
    sentAt: fc
      .date({ min: new Date('1990-01-01'), max: new Date('2026-01-01'), noInvalidDate: true })
      .map((date) => date.toISOString()),
    model: fc.constantFrom('claude', 'gpt'),
    usage: object,
    metadata: object,
    pinned: fc.boolean(),
    sourceId: fc.constantFrom('a', 'b:c', 'é'),
    contextId: fc.constantFrom('01998c1e-9d1c-7cc0-a4a2-6f60c1f1d0a1'),
    keptAside: fc.constant('compact-summary' as const),
  },
  { requiredKeys: ['content'] },
)
export const generatedThread = fc.record({
  messages: fc.array(generatedMessage, { minLength: 1, maxLength: 12 }),
  /** Without a content, the message has it. */
  archived: fc.array(fc.record({ content: fc.option(text), failed: fc.boolean(), accesses: fc.nat(3) }), {
    maxLength: 6,
  }),
  states: fc.array(
    fc.record({ isVoid: fc.boolean(), summary: fc.option(fc.constantFrom<string[]>('so far', '{"a": 1}')) }),
    {
      maxLength: 4,
    },
  ),
  clears: fc.nat(2),
  settings: fc.constantFrom<PartialSettings[]>(
    {},
    { rollingWindow: null, budget: 9_000 },
    { prune: { keepLastN: 3 }, budget: 5 },
  ),
})
type GeneratedThread = typeof generatedThread extends fc.Arbitrary<infer Value> ? Value : never

/** Stores a thread with everything that hangs on one. */
export const items: readonly NewItem[] = [
  { type: 'rule', name: 'style', text: 'Write short sentences.', include: 'always', priorityLevel: 1 },
  { type: 'reference', name: 'äpi "v2"', description: 'about', text: '\u2028\\', include: 'agent' },
  {
    type: 'tool',
    name: 'read',
    serverName: 'files',
    inputSchema: { type: 'object', properties: { 2: {}, z: { a: null } } },
  },
  { type: 'rule', name: 'gone', text: 'Not for long.' },
]

/** Adds and removes by hand, and takes away what the thread holds. */
async function weaveItems(client: Client): Promise<void> {
  const read = { type: 'tool', name: 'read', serverName: 'files' } as const
  await client.items.addToThread('cloth', read)
  await client.items.removeFromThread('cloth', read)
  await client.items.addToThread('cloth', { type: 'reference', name: 'äpi "v2"' })
  await client.items.put('weaver', { type: 'rule', name: 'style', text: 'Write shorter sentences.' })
  await client.items.remove('weaver', { type: 'rule', name: 'gone' })
}

/** Makes a thread with all that an export holds. */
export async function weave(database: TestStore, project: string, generated: GeneratedThread): Promise<void> {
  const projectId = projectIdOf(project)
  const client = clientOn(database, project)
  await client.agents.put('weaver', {
    systemPrompt: 'weave',
    docs: [{ name: 'd', text: 'doc' }],
    settings: generated.settings,
  })
  for (const item of items) await client.items.put('weaver', item)
  await client.items.setServer('weaver', 'files', { include: 'manual' })
  const messages = generated.messages.map((fields, index) =>
    prepared(
      index % 3 === 1
        ? {
            role: 'assistant',
            ...fields,
            toolCalls: [
              { name: 'Read', id: `c${index}`, arguments: index % 2 === 0 ? '{"broken":' : { z: 1, a: [null] } },
            ],
            thinking: [{ text: 'hm', signature: 's' }],
          }
        : index % 3 === 2
          ? { role: 'tool_result', ...fields, toolCallId: `c${index - 1}`, toolName: 'Read' }
          : { ...fields },
      { ordinal: index, orderedAtMs: RECEIVED_AT_MS + index },
    ),
  )
  const { threadId } = await appendOne(database.store, append(messages), projectId)
  await weaveItems(client)
  await client.threads.put('cloth', {
    agent: 'weaver',
    title: 'Title',
    status: 'at work',
    loop: { currentCli: 'claude' },
  })
  await client.threads.put('cloth', { agent: 'weaver', status: null, settings: { budget: 7_000 } })
  const iterations = [
    preparedIteration({
      prompt: 'NUL \0',
      output: '',
      progressScore: 0.1,
      fileEvents: [{ path: 'a.ts', event: 'modified' }],
    }),
    preparedIteration({ prompt: 'next', output: 'done', progressMarkers: ['half'], durationSeconds: 1e21 }),
  ]
  await appendOne(database.store, append(iterations), projectId)
  await client.processes.put('cloth', 'build', { status: 'compiling' })
  await client.processes.put('cloth', 'test', { status: 'done', ended: true })
  await database.store.inProject(projectId, async (tx) => {
    await recordTokenCounts(tx, { threadId, counts: [{ seq: 1, tokens: 3, reasoningTokens: 0 }] })
    const entries = generated.archived.flatMap((entry, index) => {
      const message = messages[index]
      return message ? [{ ...entry, message }] : []
    })
    const ids = await archiveEntries(
      tx,
      entries.map(({ content, failed, message }) => ({
        threadId,
        messageId: message.input.id,
        contentType: 'bash',
        summary: 'summary',
        content: content ?? message.input.content,
        filePaths: ['a "b",{c}.ts', ''],
        toolName: null,
        tokenCount: 1,
        failed,
        originalCreatedAtMs: message.orderedAtMs,
      })),
    )
    await tx`update heddle.archive set access_count = 2, last_accessed_at = now() where id = ${ids[0] ?? newId()}`
    let replaces: string | null = null
    for (const [index, { isVoid, summary }] of generated.states.entries()) {
      const id = newId()
      const point = { orderedAtMs: RECEIVED_AT_MS + index, ordinal: index, id: newId() }
      const state: NewContextState = {
        id,
        threadId,
        lane: 'lane',
        strategy: 'sandwich',
        clearEpoch: 0,
        generation: index + 1,
        replaces,
        status: summary === null ? 'pending' : 'ready',
        point,
        headSeq: messages.length,
        topIds: [newId(), newId()],
        coveredFrom: summary === null ? null : point,
        coveredTo: summary === null ? null : point,
        coveredCount: index,
        coveredTokens: 5,
        summary,
        summaryTokens: 2,
        summarizer: null,
      }
      expect(await insertState(tx, state)).toBe(true)
      replaces = id
      const pruned = entries[index]
      const archiveId = ids[index]
      if (pruned && archiveId) {
        const pruning = {
          stateId: id,
          messageId: pruned.message.input.id,
          action: 'condense',
          text: '📝 [recall:x]',
          calls: [{ number: 1, text: '✏️ Edited é\0 [recall:x:tool-1]', freedTokens: 3 }],
        } as const
        await insertPrunings(tx, { threadId, prunings: [{ ...pruning, tokens: 4, reason: 'old', archiveId }] })
      }
      if (isVoid) {
        await voidStates(tx, { threadId, lane: 'lane', clearEpoch: 0, fromGeneration: index + 1 })
        replaces = null
      }
    }
  })
  for (let clear = 0; clear < generated.clears; clear++) {
    await database.store.inProject(projectId, async (tx) => {
      const agent = await loadAgent(tx, { name: 'weaver' })
      await clearAgent(tx, { agentId: agent?.agentId ?? '', clearedAtMs: RECEIVED_AT_MS + clear })
    })
  }
}

export const some: GeneratedThread = {
  messages: Array.from({ length: 8 }, (_, index) => ({ content: `message ${index}` })),
  archived: [
    { content: 'the same', failed: true, accesses: 1 },
    { content: 'the same', failed: false, accesses: 0 },
    { content: 'another \ud83d', failed: false, accesses: 0 },
  ],
  states: [
    { isVoid: false, summary: 'so far' },
    { isVoid: true, summary: null },
    { isVoid: false, summary: 'further' },
  ],
  clears: 1,
  settings: { rollingWindow: null },
}
