import { randomUUID } from 'node:crypto'
import type { Client } from '@heddle/client/interface'
import type {
  ContextResult,
  FormatName,
  IngestJob,
  MessageInput,
  PartialSettings,
  PlacedMessage,
} from '@heddle/contracts'
import { projectIdOf } from '@heddle/core'
import { waitFor } from '@heddle/test-support'
import type { Pipeline } from './support.js'

const STARTED_AT_MS = Date.parse('2026-02-12T14:30:00Z')

/**
 * A session as an agent produces it: requests, reads, edits, failures, parallel calls, reused call ids, a pin, equal
 * times. The same one for the same name and length, with distinct ids for each name.
 */
export function session(name: string, turns: number): PlacedMessage[] {
  const scope = [...name].reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) % 0xffff, 7)
  const placed: PlacedMessage[] = []
  const add = (fields: Omit<MessageInput, 'id' | 'sentAt'>) => {
    const at = placed.length
    // Every fourth message has the same time as the previous one: then the ordinal decides.
    const sentAt = new Date(STARTED_AT_MS + (at - (at % 4 === 3 ? 1 : 0)) * 1_000).toISOString()
    const tail = `${scope.toString(16).padStart(4, '0')}${at.toString(16).padStart(8, '0')}`
    const message = { id: `018f0000-0000-7000-8000-${tail}`, sentAt, ...fields }
    placed.push({ message, ordinal: at, orderedAt: sentAt })
  }
  for (let turn = 0; turn < turns; turn++) addTurn(add, turn)
  return placed
}

function addTurn(add: (fields: Omit<MessageInput, 'id' | 'sentAt'>) => void, turn: number): void {
  const file = `/repo/src/part${turn % 7}.ts`
  if (turn % 9 === 0) {
    add({
      role: 'user',
      content: `Please look at part ${turn}; we must keep the API of part ${turn % 5} stable.`,
      ...(turn === 18 && { pinned: true }),
    })
  }
  const call = (index: number, fields: { name: string; arguments: Record<string, string> }) => ({
    id: turn % 3 === 0 ? `call-${index}` : `call-${turn}-${index}`,
    ...fields,
  })
  const calls = [
    call(0, { name: 'Read', arguments: { file_path: file } }),
    ...(turn % 4 === 1 ? [call(1, { name: 'Bash', arguments: { command: `npm test -- part${turn}` } })] : []),
    ...(turn % 5 === 2
      ? [call(2, { name: 'Edit', arguments: { file_path: file, old_string: 'a', new_string: `b${turn}` } })]
      : []),
  ]
  add({ role: 'assistant', content: turn % 2 === 0 ? '' : `I decided to read ${file} next.`, toolCalls: calls })
  for (const { id, name } of calls) {
    const isError = name === 'Bash' && turn % 8 === 5
    add({
      role: 'tool_result',
      toolCallId: id,
      content: isError
        ? `Error: part${turn} failed at line ${turn}`
        : `export const part${turn} = ${turn}\n`.repeat(20),
      ...(isError && { isError }),
    })
  }
  if (turn % 6 === 5) add({ role: 'assistant', content: `Part ${turn} is done. ${'It is stable now. '.repeat(6)}` })
}

export const AGENT = 'coder'
export const THREAD = 'session'
export const BUDGET = 3_000

/** A new project with an agent whose threads are compacted often. */
export async function openTenant(pipeline: Pipeline, project: string, settings: PartialSettings = {}): Promise<Tenant> {
  const client = pipeline.clientOf(project)
  await client.agents.put(AGENT, { settings: { budget: BUDGET, rollingWindow: null, ...settings } })
  return {
    client,
    projectId: projectIdOf(project),
    send: (messages, thread = THREAD) =>
      pipeline.queues.add('ingest', {
        projectId: projectIdOf(project),
        requestId: randomUUID(),
        agent: AGENT,
        thread,
        messages: [...messages],
      } satisfies IngestJob),
    whenSettled: async (messages, thread = THREAD) => {
      await waitFor(
        async () => {
          const { items } = await client.threads.list()
          return items.find(({ name }) => name === thread)?.messages === messages
        },
        { what: `${messages} messages in ${thread}`, timeoutMs: 60_000, everyMs: 50 },
      )
      await client.threads.waitUntilSettled(thread, { deadlineMs: 60_000 })
    },
  }
}

/** The same after its thread has these messages and every stage has processed them. */
export async function settledTenant(
  pipeline: Pipeline,
  project: string,
  placed: readonly PlacedMessage[],
): Promise<Tenant> {
  const tenant = await openTenant(pipeline, project)
  await tenant.send(placed)
  await tenant.whenSettled(placed.length)
  return tenant
}

export interface Tenant {
  readonly client: Client
  readonly projectId: string
  /** Puts one ingest job on the queue, bypassing the client. */
  send(messages: readonly PlacedMessage[], thread?: string): Promise<void>
  /** Resolves once this many messages are stored and every stage has processed them. */
  whenSettled(messages: number, thread?: string): Promise<void>
}

export interface SettledView {
  readonly contexts: readonly unknown[]
  readonly series: readonly { readonly generation: number; readonly coveredCount: number }[]
  readonly latest: { readonly status: unknown; readonly summary: unknown; readonly summarizer: unknown }
}

/** A settled thread as agents see it, without ids, times, and the order of arrival. */
export async function settledView(client: Client, thread = THREAD): Promise<SettledView> {
  const contexts: unknown[] = []
  const budgets = [undefined, 1_800, 12_000]
  const requestOf = (budget: number | undefined) => ({
    thread,
    message: 'go on',
    ...(budget !== undefined && { budget }),
  })
  // The first request of a budget has its lane compacted: all that follow are answered from the settled thread.
  for (const budget of budgets) await client.contexts.build(requestOf(budget))
  await client.threads.waitUntilSettled(thread, { deadlineMs: 60_000 })
  for (const format of ['neutral', 'openai-chat'] as const satisfies FormatName[]) {
    for (const budget of budgets) {
      contexts.push(withoutArrival(await client.contexts.build({ ...requestOf(budget), format })))
    }
  }
  const { states } = await client.threads.get(thread)
  const { status, summary, summarizer } = states.at(-1) ?? {}
  const series = states.map(({ generation, coveredCount, coveredTokens }) => ({
    generation,
    coveredCount,
    coveredTokens,
  }))
  return { contexts, series, latest: { status, summary, summarizer } }
}

/**
 * Lines of several messages are split by the order of arrival, so only their sums are the same. The shared prefix of a context
 * depends on which worker built the previous one.
 */
function withoutArrival({ id: _, receipt, ...context }: ContextResult) {
  const { entries, stateId, agentVersion: __, sharedPrefixTokens: ___, ...rest } = receipt
  const sums = new Map<string, { count: number; tokens: number; tokensRaw: number }>()
  for (const entry of entries) {
    const name = [entry.section, entry.mode, entry.reason, entry.reference ?? '', entry.role ?? ''].join(' | ')
    const sum = sums.get(name) ?? { count: 0, tokens: 0, tokensRaw: 0 }
    sum.count += entry.count
    sum.tokens += entry.tokens
    sum.tokensRaw += entry.tokensRaw ?? 0
    sums.set(name, sum)
  }
  return { ...context, receipt: { ...rest, hasState: stateId !== null, entries: Object.fromEntries([...sums].sort()) } }
}
