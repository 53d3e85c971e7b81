import type { LoopContext } from '@heddle/client/interface'
import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from '../../connect/context.js'
import { withStore } from '../../connect/with-engine.js'
import { nameOption, withCommonOptions } from '../../options/options.js'
import { safeText } from '../../output/safe-text.js'
import { formatCount } from '../../output/table.js'

export function registerIterationsLoop(group: Command, context: CommandContext): void {
  const loop = group
    .command('loop')
    .description("show how a thread's loop stands, and the summary of its older iterations")
    .argument('<thread>', 'the thread', nameOption('thread'))
  withCommonOptions(loop, ['heddle iterations loop nightly', 'heddle iterations loop nightly --json']).action(
    (thread: string, options: CommonOptions) => showLoop(context, thread, options),
  )
}

async function showLoop(context: CommandContext, thread: string, options: CommonOptions): Promise<void> {
  await withStore(context, options, async (engine) => {
    const loop = await engine.client.iterations.loop(thread)
    context.printer.result({ thread, ...loop }, () => loopLines(thread, loop))
  })
}

function loopLines(thread: string, loop: LoopContext): string[] {
  const { goal, totalIterations, startTime, currentCli, currentModel, iterations, summary } = loop
  const newest = iterations.at(-1)
  const window = newest === undefined ? 'none' : `${iterations[0]?.iterationNumber}-${newest.iterationNumber}`
  return [
    `thread ${safeText(thread)}: ${goal === null ? 'no goal' : safeText(goal)}`,
    `iterations ${formatCount(totalIterations)}, since ${startTime ?? '-'}, in full ${window}`,
    `cli ${safeText(currentCli ?? '-')} · model ${safeText(currentModel ?? '-')}`,
    ...(summary === null
      ? ['no summary yet']
      : [
          `summary of ${summary.coveredFrom}-${summary.coveredTo} · version ${formatCount(summary.version)} · ${formatCount(summary.tokens)} tokens · by ${safeText(summary.summarizer)}`,
          '',
          ...summary.text.split('\n').map(safeText),
        ]),
  ]
}
