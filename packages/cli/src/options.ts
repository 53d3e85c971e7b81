import { isIP } from 'node:net'
import {
  type ArchiveKind,
  archiveKinds,
  contextRequestSchema,
  describeReceived,
  idSchema,
  limits,
  momentSchema,
  nameSchema,
  settingsSchema,
  wording,
} from '@heddle/contracts'
import type { Command } from 'commander'
import { UsageError } from './output/failure.js'

/** The part of a schema that is used here. */
interface Schema<Value> {
  safeParse(
    value: unknown,
    params: { error: typeof wording },
  ): { success: true; data: Value } | { success: false; error: { issues: { message: string }[] } }
}

/**
 * A parser for one option or argument, by a schema of the contracts: the rule and its words are the same on the command
 * line, in a job and over HTTP.
 *
 * @param field the option without its dashes, as errors name it
 * @param read what the schema gets of the text; default the text itself
 * @throws UsageError from the parser it returns
 */
export function optionValue<Value>(
  field: string,
  schema: Schema<Value>,
  hint: string,
  read: (text: string) => unknown = (text) => text,
): (text: string) => Value {
  return (text) => {
    const result = schema.safeParse(read(text), { error: wording })
    if (result.success) return result.data
    throw new UsageError(field, result.error.issues[0]?.message ?? 'is not valid', describeReceived(text), hint)
  }
}

/** A parser for a whole number between two bounds, both included. */
export function wholeNumber(field: string, least: number, most: number, hint: string): (text: string) => number {
  return (text) => {
    const value = numeral(text)
    if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value
    throw new UsageError(field, `must be a whole number from ${least} to ${most}`, describeReceived(text), hint)
  }
}

/** A text of digits as a number; anything else stays a text, for the schema to refuse. */
export function numeral(text: string): number | string {
  return /^-?\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : text
}

/** The id of a context, as arguments take it. */
export function contextIdOption(field: string): (text: string) => string {
  return optionValue(field, idSchema, 'Give an id that "heddle context build" printed.')
}

export const hostOption = (text: string) => {
  if (isIP(text) !== 0 || text === 'localhost') return text
  const hint = 'Give an address of this machine, such as --host 0.0.0.0.'
  throw new UsageError('host', 'must be an address, or localhost', describeReceived(text), hint)
}

export const portOption = wholeNumber('port', 0, 65_535, 'Give a port such as --port 4680, or 0 for any that is free.')

export const budgetOption = optionValue(
  'budget',
  contextRequestSchema.shape.budget.unwrap(),
  'Give the tokens that the context may use, such as --budget 16000.',
  numeral,
)

export const memoriesOption = optionValue(
  'memories',
  settingsSchema.shape.search.shape.memories.shape.tokensMax,
  'Give the tokens that memories may use, such as --memories 1500, or none.',
  numeral,
)

export const strategyOption = optionValue(
  'strategy',
  contextRequestSchema.shape.strategy.unwrap(),
  'Choose one of the strategies that are named above.',
)

const { rawWindowSize, summarizeEvery } = settingsSchema.shape.iterations.shape

export const contextWindowOption = optionValue(
  'context-window',
  rawWindowSize,
  'Give a number of iterations, such as --context-window 5.',
  numeral,
)

export const summarizeEveryOption = optionValue(
  'summarize-every',
  summarizeEvery,
  'Give a number of iterations, such as --summarize-every 10.',
  numeral,
)

export interface IterationOptions {
  readonly contextWindow?: number
  readonly summarizeEvery?: number
}

/** Spec 002's flags. */
export function withIterationOptions(command: Command): Command {
  return command
    .option('--context-window <count>', 'iterations that stay out of the summary (default 5)', contextWindowOption)
    .option(
      '--summarize-every <count>',
      'iterations after which the summary is made anew (default 10)',
      summarizeEveryOption,
    )
}

/** The settings of those flags; null where none was given. */
export function iterationSettings({ contextWindow, summarizeEvery: every }: IterationOptions) {
  if (contextWindow === undefined && every === undefined) return null
  return {
    ...(contextWindow !== undefined && { rawWindowSize: contextWindow }),
    ...(every !== undefined && { summarizeEvery: every }),
  }
}

export const contextFormatOption = optionValue(
  'format',
  contextRequestSchema.shape.format.unwrap(),
  'Choose one of the formats that are named above.',
)

export const modelOption = optionValue(
  'model',
  contextRequestSchema.shape.model.unwrap(),
  'Give a model, such as --model claude-sonnet-4-5.',
)

export const messageOption = optionValue(
  'message',
  contextRequestSchema.shape.message.unwrap(),
  'Give the text of the user, or leave --message out.',
)

export const pastOption = optionValue(
  'at',
  contextRequestSchema.shape.at.unwrap(),
  'Give a time with its zone that has passed, such as 2026-02-12T14:30:00Z.',
)

const secondsOption = optionValue(
  'rolling-window',
  settingsSchema.shape.rollingWindow.unwrap(),
  'Give seconds, such as --rolling-window 86400, or none.',
  numeral,
)

/** Seconds, or `none` as the word it is: Commander turns null into an empty text. */
export function rollingWindowOption(text: string): number | 'none' {
  return text === 'none' ? text : secondsOption(text)
}

export const concurrencyOption = wholeNumber(
  'concurrency',
  1,
  1_000,
  'Give how many jobs run at once, such as --concurrency 16.',
)

export const maxTokensOption = wholeNumber(
  'max-tokens',
  1,
  limits.budgetTokensMax,
  'Give a number of tokens, such as --max-tokens 2000.',
)

export const limitOption = wholeNumber(
  'limit',
  1,
  limits.pageItemsMax,
  'Give how many rows to show, such as --limit 50.',
)

/** `10-50` as the text it is: lines counted from 1, both ends included. */
export function linesOption(text: string): string {
  const [, from, to] = /^([1-9]\d{0,8})-([1-9]\d{0,8})$/.exec(text) ?? []
  if (from !== undefined && to !== undefined && Number(from) <= Number(to)) return text
  throw new UsageError(
    'lines',
    'must be a range of lines such as 10-50',
    describeReceived(text),
    'Give a first and a last line, counted from 1: --lines 10-50.',
  )
}

export function nameOption(field: string): (text: string) => string {
  return optionValue(field, nameSchema, `Give a name without control characters, such as --${field} my-${field}.`)
}

/** A parser for one of some words. */
export function oneOf<Word extends string>(field: string, words: readonly Word[]): (text: string) => Word {
  return (text) => {
    const word = words.find((each) => each === text)
    if (word !== undefined) return word
    const rule = `must be one of ${words.join(', ')}`
    throw new UsageError(field, rule, describeReceived(text), `Choose one of the ${words.length} that are named above.`)
  }
}

/** Adds the options that every command has, and its examples below the help. */
export function withCommonOptions(command: Command, examples: readonly string[]): Command {
  return command
    .option('--data <dir>', 'folder of the embedded server (default .heddle, or HEDDLE_DATA)')
    .option('--project <name>', 'project to work in (default "default", or HEDDLE_PROJECT)', nameOption('project'))
    .option('--json', 'one JSON document instead of text for people')
    .addHelpText('after', `\nExamples:\n${examples.map((example) => `  $ ${example}`).join('\n')}`)
}

/** A parser for `1h`, `7d` or a time. */
export function momentOption(field: string): (text: string) => string {
  return optionValue(field, momentSchema, `Give how long ago, such as --${field} 1h, or a time with its zone.`)
}

const archiveKindOption = oneOf('kind', archiveKinds)

/** Gathers the kinds of an option that may be given several times. */
export function archiveKindsOption(text: string, before: readonly ArchiveKind[] = []): ArchiveKind[] {
  return [...before, archiveKindOption(text)]
}
