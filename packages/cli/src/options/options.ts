import { isIP } from 'node:net'
import {
  type ArchiveKind,
  archiveKinds,
  describeReceived,
  limits,
  momentSchema,
  nameSchema,
  settingsSchema,
} from '@heddle/contracts'
import { type Command, Option } from 'commander'
import { UsageError } from '../output/failure.js'
import { numeral, oneOf, optionValue, wholeNumber } from './option-values.js'

export const hostOption = (text: string) => {
  if (isIP(text) !== 0 || text === 'localhost') return text
  const hint = 'Give an address of this machine, such as --host 0.0.0.0.'
  throw new UsageError('host', 'must be an address, or localhost', describeReceived(text), hint)
}

export const portOption = wholeNumber('port', 0, 65_535, 'Give a port such as --port 4680, or 0 for any free one.')

const secondsOption = optionValue(
  'rolling-window',
  settingsSchema.shape.rollingWindow.unwrap(),
  'Give seconds, such as --rolling-window 86400, or none.',
  numeral,
)

/** Seconds, or the word `none`: Commander turns null into an empty text. */
export function rollingWindowOption(text: string): number | 'none' {
  return text === 'none' ? text : secondsOption(text)
}

export const concurrencyOption = wholeNumber(
  'concurrency',
  1,
  1_000,
  'Give the number of concurrent jobs, such as --concurrency 16.',
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
  'Give the number of rows to show, such as --limit 50.',
)

/** A sequence number of a thread's history. */
export const sequenceOption = (field: string) =>
  wholeNumber(field, 1, Number.MAX_SAFE_INTEGER, `Give a sequence number of the history, such as --${field} 12.`)

export interface PageOptions {
  readonly limit?: number
  readonly cursor?: string
}

/** Adds the options of a list that is shown page by page. */
export function withPageOptions(command: Command): Command {
  return command.option('--limit <count>', 'rows per page', limitOption).addOption(cursorOption())
}

type Given<Fields> = { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> }

/** Drops undefined fields: Commander sets missing options to undefined, and requests must omit them. */
export function given<Fields extends object>(fields: Fields): Given<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Given<Fields>
}

export interface OrderOptions extends PageOptions {
  readonly order: 'asc' | 'desc'
}

/** Adds the paging options and the sort direction. */
export function withOrderOption(command: Command): Command {
  const parse = oneOf('order', ['asc', 'desc'])
  return command.option('--order <direction>', 'asc (oldest first) or desc', parse, 'asc' as const)
}

/** The page of a list to show. The former name `--after` is accepted as well. */
export function cursorOption(): Option {
  const option = new Option('--after, --cursor <cursor>', 'show the page after this nextCursor')
  option.flags = '--cursor <cursor>'
  return option
}

/** A range such as `10-50`, or a single line, returned as text: lines counted from 1, both ends included. */
export function linesOption(text: string): string {
  const [, from, to = from] = /^([1-9]\d{0,8})(?:-([1-9]\d{0,8}))?$/.exec(text) ?? []
  if (from !== undefined && Number(from) <= Number(to)) return text
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

/** The name of a database of HEDDLE_DATABASES, or `default`. */
export function databaseOption(field: string): (text: string) => string {
  return (text) => {
    if (/^[a-z][a-z0-9-]{0,39}$/.test(text)) return text
    const rule = 'must be 1 to 40 of a-z, 0-9 and -, starting with a letter'
    throw new UsageError(field, rule, describeReceived(text), 'Give a name of HEDDLE_DATABASES, or default.')
  }
}

/** Adds the options that every command has, and its examples below the help. */
export function withCommonOptions(command: Command, examples: readonly string[]): Command {
  return command
    .option('--data <dir>', 'data folder of the embedded server (default .heddle, or HEDDLE_DATA)')
    .option('--project <name>', 'project to work in (default "default", or HEDDLE_PROJECT)', nameOption('project'))
    .option('--json', 'print one JSON document instead of text')
    .addHelpText('after', `\nExamples:\n${examples.map((example) => `  $ ${example}`).join('\n')}`)
}

/** A parser for `1h`, `7d` or a time. */
export function momentOption(field: string): (text: string) => string {
  return optionValue(field, momentSchema, `Give how long ago, such as --${field} 1h, or a time with its zone.`)
}

const archiveKindOption = oneOf('kind', archiveKinds)

/** Collects the kinds of a repeated option. */
export function archiveKindsOption(text: string, before: readonly ArchiveKind[] = []): ArchiveKind[] {
  return [...before, archiveKindOption(text)]
}
