import type { Client } from '@heddle/client/interface'
import { type ContextDiff, type ContextRequest, type ContextResult, formats } from '@heddle/contracts'
import type { Measured } from '@heddle/test-support/figure'
import { openPipeline } from '../pipeline.js'
import { readSessions } from '../sessions.js'

const CONTEXTS = 1_000
const AGENT = 'coder'
const THREAD = 'long'
const SISTER = 'beside'
/** Kinds of requests, used in turn. */
const STRATEGIES = ['sandwich', 'tree', 'sliding-window'] as const
const BUDGETS = [4_000, 12_000, 32_000] as const
/** A round: some messages, a change, and a context in each format. */
const MESSAGES_PER_ROUND = 5

interface Kept {
  readonly request: ContextRequest
  readonly bytes: string
  readonly id: string
}

/**
 * Builds a thousand contexts of the recorded sessions while items, docs, settings and statuses change, removes the
 * delivered bytes, changes everything, clears the agent, and requests each again: by its id, and by its request and its time.
 */
export async function measureRebuilt(dataDir: string): Promise<Measured[]> {
  const messages = (await readSessions(dataDir))
    .flatMap((session) => session.messages)
    .map(({ id: _, sentAt: __, sourceId: ___, ...message }) => message)
  const { clientWith, sql } = await openPipeline({})
  const client = clientWith({})
  const kept: Kept[] = []
  const diffs: string[] = []
  let before: ContextResult | null = null
  for (let round = 0; kept.length < CONTEXTS; round++) {
    const next = messages.slice(round * MESSAGES_PER_ROUND, (round + 1) * MESSAGES_PER_ROUND)
    if (next.length > 0)
      await client.messages.append({ agent: AGENT, thread: THREAD, messages: next, newAgentRollingWindow: null })
    await change(client, round, `${round}`)
    for (const request of requests(round)) {
      const context = await client.contexts.build(request)
      kept.push({ request, id: context.id, bytes: JSON.stringify(context) })
      diffs.push(JSON.stringify(before === null ? null : await client.contexts.diff(before.id, context.id)))
      before = context
    }
  }
  const moments = await sql<{ id: string; at: string }[]>`
    select id, to_char(shown_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at from heddle.contexts`
  const momentOf = new Map(moments.map(({ id, at }) => [id, at]))
  await sql`delete from heddle.context_deliveries`
  for (let kind = 0; kind < changes.length; kind++) await change(client, kind, 'something else')
  for (const { type, name } of (await client.items.list(AGENT)).items) await client.items.remove(AGENT, { type, name })
  await client.agents.clear(AGENT)
  const equal = { rebuilt: 0, at: 0, diff: 0 }
  for (const [index, { request, id, bytes }] of kept.entries()) {
    if (JSON.stringify(await client.contexts.get(id)) === bytes) equal.rebuilt++
    const at = momentOf.get(id) ?? ''
    if (JSON.stringify(await client.contexts.build({ ...request, at })) === bytes) equal.at++
    const earlier = kept[index - 1]
    const diff: ContextDiff | null = earlier === undefined ? null : await client.contexts.diff(earlier.id, id)
    if (JSON.stringify(diff) === diffs[index]) equal.diff++
  }
  const figure = (name: string, value: number, note: string): Measured => ({
    name: `contexts.${name}`,
    value,
    ceiling: kept.length,
    unit: 'contexts',
    target: '>= 1',
    note,
  })
  return [
    figure('rebuilt', equal.rebuilt, 'by id, byte for byte, without what was delivered and after everything changed'),
    figure('rebuilt.at', equal.at, 'by request and moment, likewise'),
    figure('rebuilt.diff', equal.diff, 'the difference to the one before is what it was'),
  ]
}

function requests(round: number): ContextRequest[] {
  const strategy = STRATEGIES[round % STRATEGIES.length] ?? 'sandwich'
  const budget = BUDGETS[Math.floor(round / STRATEGIES.length) % BUDGETS.length] ?? 12_000
  const message = round % 2 === 0 ? { message: `Go on with part ${round}.` } : {}
  return formats.map((format) => ({ thread: THREAD, format, strategy, budget, ...message }))
}

const changes: readonly ((client: Client, what: string) => Promise<unknown>)[] = [
  (client, what) => client.items.put(AGENT, { type: 'rule', name: 'style', text: `Mind ${what}.` }),
  (client) => client.items.addToThread(THREAD, { type: 'rule', name: 'style' }),
  (client, what) => client.agents.put(AGENT, { docs: [{ name: 'plan', text: `The plan is ${what}.` }] }),
  (client, what) => client.agents.put(AGENT, { systemPrompt: `You write code, and mind ${what}.` }),
  (client, what) =>
    client.agents.put(AGENT, { settings: { rollingWindow: null, maxOutputTokens: 1_000 + (what.length % 7) } }),
  (client, what) =>
    client.threads.put(THREAD, { agent: AGENT, title: what, goal: 'green tests', status: `at ${what}` }),
  (client, what) => client.threads.put(SISTER, { agent: AGENT, status: `at ${what}` }),
  (client, what) => client.processes.put(THREAD, 'tests', { status: `at ${what}` }),
  (client, what) =>
    client.items.put(AGENT, { type: 'reference', name: 'api', text: `All of ${what}.`, include: 'agent' }),
]

async function change(client: Client, round: number, what: string): Promise<void> {
  await changes[round % changes.length]?.(client, what)
}
