import type { RemoteClient } from '@heddle/client/http'
import { type ContextRequest, type ContextResult, formats, strategyNames } from '@heddle/contracts'
import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from '../../connect/context.js'
import { refuseRemote } from '../../connect/gateway-address.js'
import { refusePaused } from '../../connect/paused.js'
import { untilStopped, withEngine, withStore } from '../../connect/with-engine.js'
import { remoteClientOf, type UrlOptions, withRemote, withUrlOption } from '../../connect/with-remote.js'
import {
  budgetOption,
  contextFormatOption,
  contextIdOption,
  factsOption,
  fillOption,
  ledgerOption,
  memoriesOption,
  messageOption,
  modelOption,
  pastOption,
  type ScopeOptions,
  scopeOf,
  strategyOption,
  withScopeOptions,
} from '../../options/context-options.js'
import { type IterationOptions, iterationSettings, withIterationOptions } from '../../options/iteration-options.js'
import { nameOption, rollingWindowOption, withCommonOptions } from '../../options/options.js'
import { printWarnings } from '../../output/warnings.js'
import { settleThreads } from '../threads/settle.js'
import { registerContextCompress } from './context-compress.js'
import { registerContextLoss } from './context-loss.js'
import { registerContextPin } from './context-pin.js'
import { registerContextPrune } from './context-prune.js'
import { registerContextReceipts } from './context-receipts.js'
import { registerContextReplies } from './context-replies.js'
import { registerContextSummaries } from './context-summaries.js'
import { registerContextUncompact } from './context-uncompact.js'
import { contextLines, messageLines, nothingShown } from './context-view.js'
import { registerContextWindows } from './context-windows.js'

interface BuildOptions extends CommonOptions, IterationOptions, ScopeOptions, UrlOptions {
  readonly store?: boolean
  readonly agent?: string
  readonly thread: string
  readonly message?: string
  readonly model?: string
  readonly budget?: number
  readonly strategy?: ContextRequest['strategy']
  readonly format?: ContextRequest['format']
  readonly fill?: ContextRequest['fill']
  readonly at?: string
  readonly messages?: true
  readonly memories?: boolean | number
  readonly instructions?: boolean
  readonly ledger?: boolean | number
  readonly facts?: boolean | number
  readonly rollingWindow?: number | 'none'
}

/** Building takes milliseconds once workers are warm; the deadline leaves time for busy ones. */
const BUILD_DEADLINE_MS = 60_000

export function registerContext(program: Command, context: CommandContext): void {
  const group = program
    .command('context')
    .description('build and show contexts; clear, save and restore the windows of an agent')

  const build = group
    .command('build')
    .description('build the context of a thread within a token budget')
    .option('--agent <name>', 'the agent that requests the context', nameOption('agent'))
    .requiredOption('--thread <name>', 'the thread', nameOption('thread'))
    .option('--message <text>', "the user's new message, placed at the end of the context", messageOption)
    .option(
      '--model <name>',
      'the model that receives it: sets the context window and how tokens are counted',
      modelOption,
    )
    .option('--budget <tokens>', 'tokens that the context may use', budgetOption)
    .option('--strategy <name>', strategyNames().join(', '), strategyOption)
    .option('--format <name>', formats.join(', '), contextFormatOption)
    .option('--fill <how>', 'cache: compacted for a thread that continues; budget: as much history as fits', fillOption)
    .option(
      '--at <time>',
      'return the last context that this request got up to this time; nothing is built',
      pastOption,
    )
    .option('--memories [tokens]', 'add related messages from other threads and from before the window', memoriesOption)
    .option('--instructions', 'add lasting instructions of people to the memories, such as "always use tabs"')
    .option('--no-memories', "add no memories, even if the agent's settings enable them")
    .option('--ledger [tokens]', 'add the files and commands of the thread, as of its last compaction', ledgerOption)
    .option('--no-ledger', "add no ledger, even if the agent's settings enable it")
    .option('--facts [tokens]', 'add recorded facts with their sources', factsOption)
    .option('--no-facts', "add no facts, even if the agent's settings enable them")
    .option(
      '--rolling-window <seconds>',
      "maximum age of messages in this context, or none; overrides the agent's setting",
      rollingWindowOption,
    )
    .option('--messages', 'also print the messages')
    .option('--no-store', 'preview it: build it as usual, and store nothing')
  withCommonOptions(withUrlOption(withScopeOptions(withIterationOptions(build))), [
    'heddle context build --agent coder --thread session --budget 16000',
    'heddle context build --agent coder --thread session --message "why Postgres?" --memories',
    'heddle context build --agent coder --thread session --ledger 800 --facts',
    'heddle context build --agent runner --thread nightly --strategy iterations --context-window 5',
    'heddle context build --agent coder --thread session --message "go on" --format anthropic --json',
    'heddle context build --agent coder --thread session --scope-threads session,research --scope-since 2h --scope-items none',
  ]).action((options: BuildOptions) => buildContext(context, options))

  const show = group
    .command('show')
    .description('show a built context as it was delivered')
    .argument('<id>', 'the id that "context build" printed', contextIdOption('id'))
    .option('--messages', 'also print the messages')
    .option('--rebuild', 'rebuild it from the store, even if the delivered bytes are still kept')
  withCommonOptions(withUrlOption(show), [
    'heddle context show 01998c1e-9d1c-7cc0-a4a2-6f60c1f1d0a1',
    'heddle context show 01998c1e-9d1c-7cc0-a4a2-6f60c1f1d0a1 --messages --json',
  ]).action((id: string, options: ShowOptions) => showContext(context, id, options))

  const at = group
    .command('at')
    .description('show the last context of a thread built up to a given time, as it was delivered')
    .argument('<time>', 'a time with its time zone', pastOption)
    .requiredOption('--thread <name>', 'the thread', nameOption('thread'))
    .option('--messages', 'also print the messages')
  withCommonOptions(withUrlOption(at), [
    'heddle context at 2026-02-12T14:30:00Z --thread session',
    'heddle context at 2026-02-12T14:30:00Z --thread session --messages --json',
  ]).action((time: string, options: AtOptions) => showContextAt(context, time, options))

  registerContextReceipts(group, context)
  registerContextReplies(group, context)
  registerContextPrune(group, context)
  registerContextPin(group, context)
  registerContextLoss(group, context)
  registerContextSummaries(group, context)
  registerContextCompress(group, context)
  registerContextUncompact(group, context)
  registerContextWindows(group, context)
}

async function buildContext(context: CommandContext, options: BuildOptions): Promise<void> {
  const { thread, agent, message, model, budget, strategy, format, fill, at, memories, rollingWindow } = options
  const iterations = iterationSettings(options)
  const scope = scopeOf(options)
  const request: ContextRequest = {
    thread,
    ...(iterations !== null && { iterations }),
    ...(scope !== null && { scope }),
    agent,
    message,
    model,
    budget,
    strategy,
    format,
    fill,
    at,
    ...(options.store === false && { store: false }),
    ...(rollingWindow !== undefined && { rollingWindow: rollingWindow === 'none' ? null : rollingWindow }),
    ledger: withTokens(options.ledger),
    facts: withTokens(options.facts),
    ...(memories !== undefined && { memories: typeof memories === 'number' ? { tokensMax: memories } : memories }),
    ...(options.instructions === true && {
      memories: { instructions: true, ...(typeof memories === 'number' && { tokensMax: memories }) },
    }),
  }
  const isWithMessages = options.messages === true
  const deadlineMs = BUILD_DEADLINE_MS
  if (at !== undefined) return await showPast(context, options, ({ contexts }) => contexts.build(request))
  const remote = await remoteClientOf(context, options)
  if (remote !== null) {
    const building = remote.contexts.build(request, { deadlineMs, signal: context.signal })
    return printContext(context, await untilStopped(context.signal, building), isWithMessages)
  }
  const stages = ['prune', 'summarize', 'assemble'] as const
  await withEngine(context, options, { stages }, async (engine) => {
    await refusePaused(engine, 'assemble')
    // The workers of this command have just started; without waiting, nothing would be pruned or summarized yet.
    if (engine.workersHere.length > 0) await settleThreads(context, engine, [thread], 'summaries')
    const result = await engine.client.contexts.build(request, { deadlineMs })
    printContext(context, result, isWithMessages)
  })
}

function withTokens(given: boolean | number | undefined): boolean | { readonly tokensMax: number } | undefined {
  return typeof given === 'number' ? { tokensMax: given } : given
}

interface AtOptions extends CommonOptions, UrlOptions {
  readonly thread: string
  readonly messages?: true
}

async function showContextAt(context: CommandContext, at: string, options: AtOptions): Promise<void> {
  await showPast(context, options, ({ contexts }) => contexts.at({ thread: options.thread, at }))
}

/** Reads a built context, which needs no workers. */
async function showPast(
  context: CommandContext,
  options: Pick<ShowOptions, 'messages'> & CommonOptions & UrlOptions,
  find: (client: RemoteClient) => Promise<ContextResult>,
): Promise<void> {
  const print = (result: ContextResult) => printContext(context, result, options.messages === true)
  await withRemote(context, options, null, async (client) => print(await find(client)))
}

interface ShowOptions extends CommonOptions, UrlOptions {
  readonly messages?: true
  readonly rebuild?: true
}

async function showContext(context: CommandContext, id: string, options: ShowOptions): Promise<void> {
  if (options.rebuild !== true) return await showPast(context, options, ({ contexts }) => contexts.get(id))
  const print = (result: ContextResult) => printContext(context, result, options.messages === true)
  refuseRemote(context, options, '--rebuild')
  await withStore(context, options, async ({ client }) => print(await client.contexts.get(id, { rebuild: true })))
}

/** With --json the context is always complete; programs pick the fields they need. */
function printContext(context: CommandContext, result: ContextResult, withMessages: boolean): void {
  const warning = nothingShown(result)
  if (warning !== null) printWarnings(context.printer, [warning])
  context.printer.result(result, () => [...contextLines(result), ...(withMessages ? messageLines(result) : [])])
}
