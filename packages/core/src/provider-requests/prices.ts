import type { Protocol } from './protocol.js'

/** Prices of a model in US dollars for a million tokens. */
export interface Prices {
  /** A token of a request that is neither read from the cache nor written to it. */
  readonly input: number
  /** Reasoning included. */
  readonly output: number
  readonly cacheRead: number
  /** A token that is written to the cache: with the short lifetime, and with that of an hour. */
  readonly cacheWrite: number
  readonly cacheWriteHour: number
  /** How long an unused prefix stays in the cache. */
  readonly cacheLifetimeMs: number
}

export interface KnownPrices {
  readonly prices: Prices
  /** Whether the table has the model. If not, only the relations between the prices mean something. */
  readonly isKnown: boolean
}

/** Where the table is from, and when it was read. */
export const pricesSource = {
  anthropic: 'https://platform.claude.com/docs/en/about-claude/pricing',
  openai: 'https://developers.openai.com/api/docs/pricing',
  date: '2026-11-26',
} as const

const MINUTE_MS = 60_000
/** Anthropic: writes at 1.25 and, for an hour, 2 times a fresh token; 5 minutes after the last use. */
const ANTHROPIC = { write: 1.25, writeHour: 2, lifetimeMs: 5 * MINUTE_MS }
/**
 * OpenAI says 5 to 10 minutes, and up to an hour: a prefix that is taken for cold too early would be written anew for
 * nothing, so the longest time counts.
 */
const OPENAI_LIFETIME_MS = 60 * MINUTE_MS

type Row = readonly [name: string, input: number, cacheRead: number, output: number]

const ANTHROPIC_TABLE: readonly Row[] = [
  ['claude-fable-5-1', 10, 0.25, 50],
  ['claude-mythos-5-1', 10, 0.25, 50],
  ['claude-fable-5', 10, 1, 50],
  ['claude-mythos-5', 10, 1, 50],
  ['claude-opus-5-5', 4, 0.2, 20],
  ['claude-opus-5', 5, 0.5, 25],
  ['claude-opus-4-8', 5, 0.5, 25],
  ['claude-opus-4-7', 5, 0.5, 25],
  ['claude-opus-4-6', 5, 0.5, 25],
  ['claude-opus-4-5', 5, 0.5, 25],
  ['claude-opus-4-1', 15, 1.5, 75],
  ['claude-opus-4', 15, 1.5, 75],
  ['claude-3-opus', 15, 1.5, 75],
  ['claude-sonnet-5-5', 2, 0.1, 10],
  ['claude-sonnet-5', 2, 0.2, 10],
  ['claude-sonnet-4-6', 3, 0.3, 15],
  ['claude-sonnet-4-5', 3, 0.3, 15],
  ['claude-sonnet-4', 3, 0.3, 15],
  ['claude-3-7-sonnet', 3, 0.3, 15],
  ['claude-3-5-sonnet', 3, 0.3, 15],
  // Of a request up to 100,000 tokens; a longer one costs five times as much, in the same relations.
  ['claude-haiku-5-5', 0.1, 0.01, 0.5],
  ['claude-haiku-4-5', 1, 0.1, 5],
  ['claude-3-5-haiku', 0.8, 0.08, 4],
  ['claude-3-haiku', 0.25, 0.03, 1.25],
]

/** Of a request up to 272,000 tokens. */
const OPENAI_TABLE: readonly Row[] = [
  ['gpt-5.6-terra', 2, 0.2, 12],
  ['gpt-5.6-luna', 0.2, 0.02, 1.2],
  ['gpt-5.1', 1.25, 0.125, 10],
  ['gpt-5', 1.25, 0.125, 10],
  ['gpt-5-mini', 0.25, 0.025, 2],
  ['gpt-5-nano', 0.05, 0.005, 0.4],
  ['gpt-4.1', 2, 0.5, 8],
  ['gpt-4.1-mini', 0.4, 0.1, 1.6],
  ['gpt-4.1-nano', 0.1, 0.025, 0.4],
  ['gpt-4o', 2.5, 1.25, 10],
  ['gpt-4o-mini', 0.15, 0.075, 0.6],
  ['o3', 2, 0.5, 8],
  ['o3-mini', 1.1, 0.55, 4.4],
  ['o4-mini', 1.1, 0.275, 4.4],
  ['o1', 15, 7.5, 60],
]

/** Models for which OpenAI takes 1.25 times a fresh token for one that is written to the cache. */
const OPENAI_WRITES_TABLE: readonly Row[] = [
  ['gpt-6.1-sol', 2, 0.1, 10],
  ['gpt-6.1-terra', 1, 0.05, 5],
  ['gpt-6-sol', 2, 0.2, 10],
  ['gpt-6-luna', 0.1, 0.01, 0.5],
]

const tables = new Map<string, Prices>([
  ...ANTHROPIC_TABLE.map(
    ([name, input, cacheRead, output]) => [name, anthropicPrices(input, cacheRead, output)] as const,
  ),
  ...OPENAI_TABLE.map(([name, ...prices]) => [name, openAiPrices(prices, 1)] as const),
  ...OPENAI_WRITES_TABLE.map(([name, ...prices]) => [name, openAiPrices(prices, 1.25)] as const),
])

/** For a model without prices: reads that save least, and writes that cost most, so that no rewrite is rash. */
const UNKNOWN: Readonly<Record<Protocol, Prices>> = {
  anthropic: anthropicPrices(3, 0.3, 15),
  'openai-chat': openAiPrices([2, 1, 8], 1.25),
  'openai-responses': openAiPrices([2, 1, 8], 1.25),
}

/** Endings of a model's name that are no other model: dates, `-latest`, and the size of its window. */
const SAME_MODEL = /(?:-\d{8}|-\d{4}-\d{2}-\d{2}|-latest)?(?:\[1m\])?$/

/** The prices of a model by its name, with or without its maker's: `anthropic/claude-sonnet-4-5`. */
export function pricesOf(protocol: Protocol, model: string): KnownPrices {
  const [name = ''] = model
    .slice(model.lastIndexOf('/') + 1)
    .toLowerCase()
    .split('@')
  const prices = tables.get(name) ?? tables.get(name.replace(SAME_MODEL, ''))
  return prices === undefined ? { prices: UNKNOWN[protocol], isKnown: false } : { prices, isKnown: true }
}

/** The prices for a request whose marks ask the cache to keep its prefix for an hour. */
export function withHourMarks(prices: Prices): Prices {
  return { ...prices, cacheWrite: prices.cacheWriteHour, cacheLifetimeMs: 60 * MINUTE_MS }
}

/** Tokens of one request as its provider counted them; the three kinds of input do not overlap. */
export interface CountedTokens {
  readonly input: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly output: number
}

/** The price of a request in US dollars. */
export function priceOf(prices: Prices, { input, cacheRead, cacheWrite, output }: CountedTokens): number {
  const sum =
    input * prices.input + cacheRead * prices.cacheRead + cacheWrite * prices.cacheWrite + output * prices.output
  return sum / 1_000_000
}

function anthropicPrices(input: number, cacheRead: number, output: number): Prices {
  return {
    input,
    output,
    cacheRead,
    cacheWrite: input * ANTHROPIC.write,
    cacheWriteHour: input * ANTHROPIC.writeHour,
    cacheLifetimeMs: ANTHROPIC.lifetimeMs,
  }
}

function openAiPrices([input, cacheRead, output]: readonly [number, number, number], write: number): Prices {
  const cacheWrite = input * write
  return { input, output, cacheRead, cacheWrite, cacheWriteHour: cacheWrite, cacheLifetimeMs: OPENAI_LIFETIME_MS }
}
