import { type ContextRequest, type ContextResult, formats, strategies } from '@heddle/contracts'
import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from '../context.js'
import {
  budgetOption,
  contextFormatOption,
  messageOption,
  modelOption,
  nameOption,
  strategyOption,
  withCommonOptions,
} from '../options.js'
import { refusePaused } from '../paused.js'
import { withEngine, withStore } from '../with-engine.js'
import { registerContextClear } from './context-clear.js'
import { registerContextPrune } from './context-prune.js'
import { registerContextUncompact } from './context-uncompact.js'
import { contextLines, messageLines } from './context-view.js'
import { settleThreads } from './settle.js'

interface BuildOptions extends CommonOptions {
  readonly agent?: string
  readonly thread: string
  readonly message?: string
  readonly model?: string
  readonly budget?: number
  readonly strategy?: ContextRequest['strategy']
  readonly format?: ContextRequest['format']
  readonly messages?: true
}

/** An answer takes milliseconds with warm workers; what is waited for is workers that are busy. */
const BUILD_DEADLINE_MS = 60_000

export function registerContext(program: Command, context: CommandContext): void {
  const group = program
    .command('context')
    .description('build contexts for an agent, show those that were built, and begin anew')

  const build = group
    .command('build')
    .description('build the context of a thread for a budget')
    .option('--agent <name>', 'the agent that asks', nameOption('agent'))
    .requiredOption('--thread <name>', 'the thread', nameOption('thread'))
    .option('--message <text>', "the user's new message, which closes the context", messageOption)
    .option('--model <name>', 'the model that will read it: gives the window and the counting', modelOption)
    .option('--budget <tokens>', 'tokens that the context may use', budgetOption)
    .option('--strategy <name>', strategies.join(', '), strategyOption)
    .option('--format <name>', formats.join(', '), contextFormatOption)
    .option('--messages', 'print the messages too')
  withCommonOptions(build, [
    'heddle context build --agent coder --thread session --budget 16000',
    'heddle context build --agent coder --thread session --message "go on" --format anthropic --json',
  ]).action((options: BuildOptions) => buildContext(context, options))

  const show = group
    .command('show')
    .description('show a context that was built, as it was delivered')
    .argument('<id>', 'the id that "context build" printed')
    .option('--messages', 'print the messages too')
  withCommonOptions(show, [
    'heddle context show 01998c1e-9d1c-7cc0-a4a2-6f60c1f1d0a1',
    'heddle context show 01998c1e-9d1c-7cc0-a4a2-6f60c1f1d0a1 --messages --json',
  ]).action((id: string, options: CommonOptions & { messages?: true }) => showContext(context, id, options))

  registerContextPrune(group, context)
  registerContextUncompact(group, context)
  registerContextClear(group, context)
}

async function buildContext(context: CommandContext, options: BuildOptions): Promise<void> {
  const { thread, agent, message, model, budget, strategy, format } = options
  const request: ContextRequest = {
    thread,
    ...(agent !== undefined && { agent }),
    ...(message !== undefined && { message }),
    ...(model !== undefined && { model }),
    ...(budget !== undefined && { budget }),
    ...(strategy !== undefined && { strategy }),
    ...(format !== undefined && { format }),
  }
  const stages = ['prune', 'summarize', 'assemble'] as const
  await withEngine(context, options, { stages }, async (engine) => {
    await refusePaused(engine, 'assemble')
    // Without this a command that brings its own workers would ask before they had done anything.
    if (engine.workersHere.length > 0) await settleThreads(context, engine, [thread], 'summaries')
    const result = await engine.client.contexts.build(request, { deadlineMs: BUILD_DEADLINE_MS })
    printContext(context, result, options.messages === true)
  })
}

async function showContext(
  context: CommandContext,
  id: string,
  options: CommonOptions & { messages?: true },
): Promise<void> {
  await withStore(context, options, async (engine) => {
    printContext(context, await engine.client.contexts.get(id), options.messages === true)
  })
}

/** With --json a context is always whole: programs take what they need of it. */
function printContext(context: CommandContext, result: ContextResult, withMessages: boolean): void {
  context.printer.result(result, () => [...contextLines(result), ...(withMessages ? messageLines(result) : [])])
}
