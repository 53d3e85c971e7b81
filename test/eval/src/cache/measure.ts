import { TokenCounter } from '@heddle/assemble'
import type { PartialSettings } from '@heddle/contracts'
import { buildContext, type Message } from '@heddle/core'
import type { Measured } from '@heddle/test-support/figure'
import { unpublishedInput } from '@heddle/test-support/samples/simulated-input'
import { SimulatedThread } from '@heddle/test-support/samples/simulated-thread'
import { Account } from './account.js'
import { replayRaw, replaySliding } from './baselines.js'
import { type ReplayOptions, replayHeddle } from './replay.js'
import { type RecordedSession, readLongSessions } from './sessions.js'

const budgets = [
  { name: '32k', budget: 32_000, costTarget: '<= 0.4' },
  { name: '64k', budget: 64_000, costTarget: '<= 0.6' },
] as const

/** The depths of compactions that are measured besides the default, which has no settings. */
const depths: readonly { readonly name: string; readonly settings: PartialSettings }[] = [
  { name: 'compactTo 0.2 (default)', settings: {} },
  { name: 'compactTo 0.3', settings: { compactTo: 0.3 } },
  { name: 'compactTo 0.5', settings: { compactTo: 0.5 } },
  { name: 'compactTo 0.7', settings: { compactTo: 0.7 } },
  { name: 'keeps 15 newest', settings: { sandwich: { preserveBottom: 15 } } },
  { name: 'summary of 1,000', settings: { maxSummaryTokens: 1_000 } },
  { name: 'summary of 4,000', settings: { maxSummaryTokens: 4_000 } },
]

interface Sum {
  readonly account: Account
  readonly reused: number
}

/**
 * Replays the recorded sessions request by request and compares the use of a provider's prompt cache by Heddle's contexts,
 * by the raw history, and by a sliding window. A table of depths goes to standard error.
 */
export async function measureCache(dataDir: string): Promise<Measured[]> {
  const sessions = await readLongSessions(dataDir)
  const { count } = new TokenCounter()
  const costs = sessions.map((session) => costsOf(session, count))
  const raw = sum(sessions.map((session, index) => replayRaw(session, costs[index] as CostOf)))
  const measured: Measured[] = []
  for (const { name, budget, costTarget } of budgets) {
    const sliding = sum(sessions.map((session, index) => replaySliding(session, budget, costs[index] as CostOf)))
    say(`\n${name}: ${sessions.length} sessions, ${raw.requests} requests`)
    say(HEADER)
    say(row('raw history', raw, raw))
    say(row('sliding window', sliding, raw))
    for (const depth of depths) {
      const heddle = replayAll(sessions, { settings: { budget, ...depth.settings }, format: 'openai-chat', count })
      say(row(depth.name, heddle.account, raw, heddle.reused))
      if (Object.keys(depth.settings).length > 0) continue
      const others = `raw history sends ${raw.sentTokens} tokens`
      measured.push(
        ...figures(
          name,
          heddle,
          raw,
          costTarget,
          `${others}; a sliding window ${told(sliding, raw)}; Heddle ${told(heddle.account, raw)}`,
        ),
      )
    }
  }
  return measured
}

function figures(name: string, { account, reused }: Sum, raw: Account, costTarget: string, note: string): Measured[] {
  return [
    { name: `cache.prefix.${name}`, value: account.prefixShare, unit: 'share', target: '>= 0.95', note },
    { name: `cache.cost.${name}`, value: account.costUnits, unit: 'units', ceiling: raw.costUnits, target: costTarget },
    {
      name: `cache.reused.${name}`,
      value: reused,
      unit: 'share',
      target: '>= 0.6',
      note: `of the names that occur again within 200 messages after one of ${account.compactions} compactions, those that the context has`,
    },
  ]
}

function replayAll(sessions: readonly RecordedSession[], options: ReplayOptions): Sum {
  const replays = sessions.map((session) => replayHeddle(session, options))
  const [found, all] = replays.reduce(([hit, of], { reused }) => [hit + reused[0], of + reused[1]], [0, 0])
  return { account: sum(replays.map(({ account }) => account)), reused: all === 0 ? 1 : found / all }
}

type CostOf = (message: Message) => number

/** The tokens of each message in a context of the whole history, by its receipt. */
function costsOf({ messages }: RecordedSession, count: (text: string) => number): CostOf {
  const thread = new SimulatedThread({ strategy: 'full-history' })
  for (const message of messages) thread.arrive(message)
  const { receipt } = buildContext(unpublishedInput(thread, {}, { count, counter: 'o200k' }))
  const tokens = new Map(receipt.entries.map((entry) => [entry.messageId, entry.tokens]))
  return ({ id }) => tokens.get(id) ?? 0
}

function sum(accounts: readonly Account[]): Account {
  const total = new Account()
  for (const account of accounts) total.include(account)
  return total
}

const HEADER =
  'what'.padEnd(26) +
  ['sent', 'shared', 'cost', 'of raw', 'compactions', 'prefix', 'reused'].map((word) => word.padStart(13)).join('')

function row(what: string, account: Account, raw: Account, reused?: number): string {
  const cells = [
    account.sentTokens.toLocaleString('en'),
    account.sharedTokens.toLocaleString('en'),
    Math.round(account.costUnits).toLocaleString('en'),
    (account.costUnits / raw.costUnits).toFixed(3),
    String(account.compactions),
    account.prefixShare.toFixed(4),
    reused === undefined ? '' : reused.toFixed(3),
  ]
  return what.padEnd(26) + cells.map((cell) => cell.padStart(13)).join('')
}

function told(account: Account, raw: Account): string {
  const { sentTokens, sharedTokens, costUnits } = account
  return `${sentTokens}, of which ${sharedTokens} in the shared prefix, at ${(costUnits / raw.costUnits).toFixed(3)} of its cost`
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}
