import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from '../../connect/context.js'
import { type UrlOptions, withRemote, withUrlOption } from '../../connect/with-remote.js'
import { nameOption, withCommonOptions } from '../../options/options.js'
import { safeText } from '../../output/safe-text.js'
import { formatCount } from '../../output/table.js'

interface CompressOptions extends CommonOptions, UrlOptions {
  readonly agent?: string
  readonly thread: string
}

export function registerContextCompress(group: Command, context: CommandContext): void {
  const compress = group
    .command('compress')
    .description('compact a thread now, whether or not a compaction is due, and show its summary')
    .option('--agent <name>', 'the agent of the thread', nameOption('agent'))
    .requiredOption('--thread <name>', 'the thread', nameOption('thread'))
  withCommonOptions(withUrlOption(compress), [
    'heddle context compress --thread session',
    'heddle context compress --agent coder --thread session --json',
  ]).action((options: CompressOptions) => compressThread(context, options))
}

async function compressThread(context: CommandContext, { thread, agent, ...options }: CompressOptions): Promise<void> {
  await withRemote(context, options, { stages: ['prune', 'summarize'] }, async ({ contexts }) => {
    const result = await contexts.compress({ thread, agent })
    const { compacted, tokensBefore, tokensAfter, condensed, stubbed, removed, summarized, summary } = result
    context.printer.result(result, () => [
      compacted
        ? `thread ${safeText(thread)}: ${formatCount(tokensBefore)} to ${formatCount(tokensAfter)} tokens`
        : `thread ${safeText(thread)}: nothing left to compact, ${formatCount(tokensBefore)} tokens`,
      `condensed ${formatCount(condensed)}, stubbed ${formatCount(stubbed)}, removed ${formatCount(removed)}, summarized ${formatCount(summarized)} messages`,
      ...(summary === null
        ? []
        : [
            `summary of ${formatCount(summary.coveredCount)} messages · ${formatCount(summary.tokens)} tokens · by ${safeText(summary.summarizer)}`,
            '',
            safeText(summary.text),
          ]),
    ])
  })
}
