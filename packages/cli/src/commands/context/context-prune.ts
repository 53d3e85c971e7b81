import type { PrunePlan } from '@heddle/client/interface'
import type { ContextRequest } from '@heddle/contracts'
import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from '../../connect/context.js'
import { type UrlOptions, withRemote, withUrlOption } from '../../connect/with-remote.js'
import { budgetOption, modelOption, strategyOption } from '../../options/context-options.js'
import { nameOption, withCommonOptions } from '../../options/options.js'
import { UsageError } from '../../output/failure.js'
import { oneLine } from '../../output/safe-text.js'
import { formatCount, itemTable, type Line } from '../../output/table.js'

interface PruneOptions extends CommonOptions, UrlOptions {
  readonly agent?: string
  readonly thread: string
  readonly dryRun?: true
  readonly model?: string
  readonly budget?: number
  readonly strategy?: ContextRequest['strategy']
}

export function registerContextPrune(group: Command, context: CommandContext): void {
  const prune = group
    .command('prune')
    .description('show what a compaction would condense, remove and summarize now, and how many tokens it would free')
    .option('--agent <name>', 'the agent of the thread', nameOption('agent'))
    .requiredOption('--thread <name>', 'the thread', nameOption('thread'))
    .option('--dry-run', 'required: compactions run by themselves when a thread grows past its trigger')
    .option('--model <name>', 'plan for the context window of this model', modelOption)
    .option('--budget <tokens>', 'plan for contexts of this many tokens', budgetOption)
    .option('--strategy <name>', 'plan for this strategy', strategyOption)
  withCommonOptions(withUrlOption(prune), [
    'heddle context prune --agent coder --thread session --dry-run',
    'heddle context prune --thread session --dry-run --budget 16000 --json',
  ]).action((options: PruneOptions) => planPruning(context, options))
}

async function planPruning(context: CommandContext, options: PruneOptions): Promise<void> {
  const { thread, agent, dryRun, model, budget, strategy } = options
  if (dryRun !== true) {
    const rule = 'is required: compactions run by themselves when a thread grows past its trigger'
    throw new UsageError('dry-run', rule, undefined, 'Add --dry-run to see what it would do.')
  }
  const query = {
    thread,
    agent,
    model,
    budget,
    strategy,
  }
  await withRemote(context, options, null, async ({ contexts }) => {
    const plan = await contexts.planPruning(query)
    context.printer.result(plan, () => planLines(plan))
  })
}

const TEXT_CHARACTERS = 80

function planLines(plan: PrunePlan): Line[] {
  const when = plan.due ? 'a compaction is due' : 'no compaction is due yet'
  const totals = `${formatCount(plan.tokensBefore)} tokens of ${formatCount(plan.limitTokens)} in use: ${when}`
  if (plan.messages.length === 0) return [totals, 'there is nothing to condense, remove or summarize']
  return [
    ...itemTable(plan.messages, [
      { title: 'seq', count: ({ seq }) => seq },
      { title: 'message', text: ({ reference }) => reference },
      { title: 'action', text: ({ action }) => action },
      { title: 'tokens', count: ({ tokensBefore }) => tokensBefore },
      { title: 'after', count: ({ tokensAfter }) => tokensAfter },
      { title: 'reason', text: ({ reason }) => reason },
      { title: 'text', text: ({ text }) => oneLine(text, TEXT_CHARACTERS) },
    ]),
    '',
    totals,
    `it would free ${formatCount(plan.tokensFreed)} tokens and leave ${formatCount(plan.tokensAfter)}; nothing was changed`,
  ]
}
