import type { RemoteClient } from '@heddle/client/http'
import type { EngineNeeds } from '@heddle/host'
import type { StoreEngine } from '@heddle/host/store'
import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from '../connect/context.js'
import { withStore } from '../connect/with-engine.js'
import { type UrlOptions, withRemote, withUrlOption } from '../connect/with-remote.js'
import { type PageOptions, withCommonOptions, withPageOptions } from '../options/options.js'
import { emptyLines, type ItemColumn, itemTable, type Line, moreLines } from '../output/table.js'

type Argument = readonly [name: string, description: string, parse?: (text: string) => unknown]

/**
 * A command that loads one document from its source and prints it. It takes at most two arguments, `first` and `second`, of
 * the types that their parsers return.
 */
interface Declaration<Source, Options, First, Second, Result> {
  /** The last word of the command: `list` of `heddle agents list`. */
  readonly name: string
  readonly description: string
  readonly arguments?: readonly Argument[]
  /** Adds the options of this command; help lists them before those that every command has. */
  readonly options?: (command: Command) => Command
  readonly examples: readonly string[]
  /** Help shows this below the examples. */
  readonly notes?: string
  /** Throws a `UsageError` for options that contradict each other, before anything is opened. */
  readonly check?: (options: Options, first: First, second: Second) => void
  readonly load: (source: Source, options: Options, first: First, second: Second) => Promise<Result>
}

interface Printed<Source, Options, First, Second, Result> {
  /** The result for people; programs get it as JSON. */
  readonly lines: (result: Result, asked: Asked<Source, Options, First, Second>) => readonly Line[]
}

interface Asked<Source, Options, First, Second> {
  readonly source: Source
  readonly options: Options
  readonly first: First
  readonly second: Second
}

interface Page<Item> {
  readonly items: readonly Item[]
  readonly nextCursor: string | null
}

interface Listed<Options, Item> {
  /** Name of the rows, in the plural. */
  readonly items: string
  readonly columns: readonly ItemColumn<Item>[]
  /** Printed when the list is empty. */
  readonly none: (options: Options) => string
}

type Remote<Options, First, Second, Result> = Declaration<RemoteClient, Options, First, Second, Result> & {
  /** Opened besides the store when no gateway is used. */
  readonly needs?: EngineNeeds
}

/** Declares a command that uses the gateway if one is named, else the store of the configuration. */
export function clientCommand<Options extends CommonOptions & UrlOptions, First, Second, Result>(
  group: Command,
  context: CommandContext,
  declared: Remote<Options, First, Second, Result> & Printed<RemoteClient, Options, First, Second, Result>,
): void {
  const open = (options: Options, work: (client: RemoteClient) => Promise<void>) =>
    withRemote(context, options, declared.needs ?? null, work)
  declare(group, context, { ...declared, withSourceOption: withUrlOption, open })
}

/** Declares a command that uses the store alone: it needs no queues and is not available over HTTP. */
export function storeCommand<Options extends CommonOptions, First, Second, Result>(
  group: Command,
  context: CommandContext,
  declared: Declaration<StoreEngine, Options, First, Second, Result> &
    Printed<StoreEngine, Options, First, Second, Result>,
): void {
  const open = (options: Options, work: (engine: StoreEngine) => Promise<void>) => withStore(context, options, work)
  declare(group, context, { ...declared, withSourceOption: (command) => command, open })
}

/** Declares a {@link clientCommand} that shows one page of a list. */
export function listCommand<Options extends PageOptions & CommonOptions & UrlOptions, First, Second, Item>(
  group: Command,
  context: CommandContext,
  declared: Remote<Options, First, Second, Page<Item>> & Listed<Options, Item>,
): void {
  const { options: withOwnOptions = (command) => command, columns, items: plural, none } = declared
  clientCommand(group, context, {
    ...declared,
    options: (command) => withPageOptions(withOwnOptions(command)),
    lines: ({ items, nextCursor }: Page<Item>, { options }) =>
      items.length === 0
        ? emptyLines(options.cursor, plural, none(options))
        : [...itemTable(items, columns), ...moreLines(nextCursor)],
  })
}

function declare<Source, Options extends CommonOptions, First, Second, Result>(
  group: Command,
  { printer }: CommandContext,
  declared: Declaration<Source, Options, First, Second, Result> &
    Printed<Source, Options, First, Second, Result> & {
      readonly withSourceOption: (command: Command) => Command
      readonly open: (options: Options, work: (source: Source) => Promise<void>) => Promise<void>
    },
): void {
  const command = group.command(declared.name).description(declared.description)
  for (const [name, description, parse = (text: string) => text] of declared.arguments ?? []) {
    command.argument(name, description, parse)
  }
  withCommonOptions(declared.withSourceOption(declared.options?.(command) ?? command), declared.examples)
  if (declared.notes !== undefined) command.addHelpText('after', `\n${declared.notes}`)
  const run = async (options: Options, first: First, second: Second) => {
    declared.check?.(options, first, second)
    await declared.open(options, async (source) => {
      const result = await declared.load(source, options, first, second)
      printer.result(result, () => declared.lines(result, { source, options, first, second }))
    })
  }
  // Commander passes the arguments, then the options, then the command.
  command.action((...given) => run(given.at(-2), given[0], given[1]))
}
