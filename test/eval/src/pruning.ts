import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import type { Client } from '@heddle/client/interface'
import { type ContextResult, limits, type PartialSettings } from '@heddle/contracts'
import { projectIdOf, threadIdOf } from '@heddle/core'
import type { Measured } from '@heddle/test-support/figure'
import { sessionFiles } from '@heddle/test-support/samples/recorded-sessions'
import { validateAnthropic, validateOpenAiChat } from '@heddle/test-support/validators/index'
import { type Settled, settleSessions } from './pipeline.js'
import { PROJECT, readSessions } from './sessions.js'
import { databaseBytes } from './storage.js'

/** The models that sessions are pruned for: one that most agents use, and one whose window they fill many times. */
const windows: readonly { readonly name: string; readonly settings: PartialSettings }[] = [
  { name: '200k', settings: { model: 'claude-sonnet-4-5' } },
  { name: '32k', settings: { model: 'gemini-pro' } },
]

/** A run is judged by the figures of the worse of its windows. */
export async function measurePruning(dataDir: string): Promise<Measured[]> {
  const figures: Measured[] = []
  const runs: RunTotals[] = []
  const sessions = await readSessions(dataDir)
  const rawBytes = sessionFiles(dataDir).reduce((sum, file) => sum + statSync(file).size, 0)
  for (const { name, settings } of windows) {
    const settled = await settleSessions(sessions, settings)
    const totals = await totalsOf(settled)
    runs.push(totals)
    for (const [mode, tokens] of totals.byMode) {
      figures.push({
        name: `prune.tokens.${name}.${mode}`,
        value: tokens.after,
        ceiling: tokens.before,
        unit: 'tokens',
      })
    }
    for (const [contentType, tokens] of await tokensByClass(settled)) {
      figures.push({
        name: `prune.tokens.${name}.class.${contentType}`,
        value: tokens.after,
        ceiling: tokens.before,
        unit: 'tokens',
        note: `${tokens.messages} messages condensed or removed`,
      })
    }
    figures.push({
      name: `prune.orphans.${name}`,
      value: totals.faults,
      unit: 'faults',
      target: '<= 0',
      note: `${settled.threads.length} threads in two formats`,
    })
  }
  const sumOf = (part: 'recalled' | 'pruned' | 'calls' | 'callsRecalled') =>
    runs.reduce((sum, run) => sum + run[part], 0)
  const [recalled, pruned] = [sumOf('recalled') + sumOf('callsRecalled'), sumOf('pruned') + sumOf('calls')]
  const bytes = Math.max(...runs.map((run) => run.bytes))
  const textBytes = sessions
    .flatMap(({ messages }) => messages)
    .reduce(
      (sum, message) => sum + Buffer.byteLength(JSON.stringify([message.content, message.toolCalls, message.thinking])),
      0,
    )
  return [
    ...figures,
    {
      name: 'prune.recalled',
      value: pruned === 0 ? 0 : recalled / pruned,
      unit: 'share',
      target: '>= 1',
      note: `${recalled} of ${pruned} condensed, removed and summarized contents by SHA-256, ${sumOf('calls')} of them inputs of calls`,
    },
    {
      name: 'prune.storage',
      value: bytes,
      ceiling: rawBytes,
      unit: 'bytes',
      target: '<= 1.5',
      note: `what the sessions added, search aside; ${(bytes / textBytes).toFixed(2)} bytes per byte of the messages' own content`,
    },
  ]
}

interface RunTotals {
  readonly byMode: ReadonlyMap<string, { before: number; after: number }>
  readonly faults: number
  readonly pruned: number
  readonly recalled: number
  /** Inputs of calls that later writes superseded. */
  readonly calls: number
  readonly callsRecalled: number
  readonly bytes: number
}

async function totalsOf({ client, sql, emptyBytes, threads }: Settled): Promise<RunTotals> {
  // Before any context is built, because stored contexts are temporary and not part of the input.
  const bytes = (await databaseBytes(sql)) - emptyBytes
  const byMode = new Map<string, { before: number; after: number }>()
  const totals = { faults: 0, pruned: 0, recalled: 0, calls: 0, callsRecalled: 0 }
  for (const { thread, messages } of threads) {
    const context = await client.contexts.build({ thread, format: 'anthropic' })
    for (const { mode, count, tokens, tokensRaw } of context.receipt.entries) {
      if (count === 0) continue
      const sum = byMode.get(mode) ?? { before: 0, after: 0 }
      byMode.set(mode, { before: sum.before + (tokensRaw ?? tokens), after: sum.after + tokens })
    }
    totals.faults += validateAnthropic(context as never).length
    const chat = await client.contexts.build({ thread, format: 'openai-chat' })
    totals.faults += validateOpenAiChat(chat.messages as never).length

    const originals = new Map(messages.map((message) => [message.id, message]))
    for (const { id, reference, calls } of await shortened(client, thread, context, sql)) {
      const original = originals.get(id)
      for (const number of calls) {
        const { content } = await client.recall({
          ref: `${reference}:tool-${number}`,
          thread,
          maxTokens: limits.budgetTokensMax,
        })
        totals.calls++
        totals.callsRecalled += Number(content === JSON.stringify(original?.toolCalls?.[number - 1]))
      }
      const recalled = await client.recall({ ref: reference, thread, maxTokens: limits.budgetTokensMax })
      // A message that consists of calls is recalled as these.
      const content = original?.content || (original?.toolCalls === undefined ? '' : JSON.stringify(original.toolCalls))
      totals.pruned++
      const isWhole = sha256(recalled.content) === sha256(content)
      totals.recalled += Number(isWhole)
      if (!isWhole)
        process.stderr.write(
          `${thread}: ${reference} comes back otherwise: ${recalled.content.length} of ${content.length} characters\n`,
        )
    }
  }
  return { byMode, ...totals, bytes }
}

/** The removed and condensed messages, by the class of their content, in the states that are in force. */
async function tokensByClass({ sql }: Settled) {
  const rows = await sql<{ contentType: string; messages: number; before: number; after: number }[]>`
    select
      archive.content_type as "contentType", count(*)::int as messages, sum(archive.token_count)::int as before,
      sum(latest.tokens)::int as after
    from (
      select distinct on (pruning.thread_id, pruning.message_id) pruning.*
      from heddle.prunings as pruning
      join heddle.context_states as state on state.id = pruning.state_id
      where state.status <> 'void' and pruning.undone_at is null
      order by pruning.thread_id, pruning.message_id, state.generation desc) as latest
    join heddle.archive on archive.id = latest.archive_id
    group by 1
    order by 1`
  return rows.map(({ contentType, ...tokens }) => [contentType, tokens] as const)
}

/** Every message of a thread that its context does not show verbatim. */
async function shortened(client: Client, thread: string, context: ContextResult, sql: Settled['sql']) {
  const verbatim = new Set(
    context.receipt.entries.flatMap(({ mode, messageId }) =>
      mode === 'raw' && messageId !== undefined ? [messageId] : [],
    ),
  )
  const pruned = await sql<{ messageId: string; calls: { number: number }[] | null }[]>`
    select message_id as "messageId", calls from heddle.prunings where thread_id = ${threadIdOf(projectIdOf(PROJECT), thread)}`
  const ever = new Map<string, Set<number>>()
  for (const { messageId, calls } of pruned) {
    const numbers = ever.get(messageId) ?? new Set()
    for (const { number } of calls ?? []) numbers.add(number)
    ever.set(messageId, numbers)
  }
  const found: { id: string; reference: string; calls: ReadonlySet<number> }[] = []
  let cursor: string | undefined
  do {
    const page = await client.messages.list({
      thread,
      limit: limits.pageItemsMax,
      ...(cursor !== undefined && { cursor }),
    })
    for (const { id, reference } of page.items) {
      if (ever.has(id) || !verbatim.has(id)) found.push({ id, reference, calls: ever.get(id) ?? new Set() })
    }
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  return found
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
