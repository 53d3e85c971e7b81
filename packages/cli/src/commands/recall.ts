import { limits } from '@heddle/contracts'
import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from '../context.js'
import { linesOption, maxTokensOption, nameOption, withCommonOptions } from '../options.js'
import { safeText } from '../output/safe-text.js'
import { withEngine } from '../with-engine.js'

interface RecallOptions extends CommonOptions {
  readonly thread?: string
  readonly lines?: string
  readonly search?: string
  readonly maxTokens?: number
}

export function registerRecall(program: Command, context: CommandContext): void {
  const recall = program
    .command('recall')
    .description('bring back what was condensed, byte for byte')
    .argument(
      '<reference>',
      'a reference such as msg-1a2b3c4d, [recall:msg-1a2b3c4d] or nexora://project/thread/msg-1a2b3c4d',
    )
    .option('--thread <name>', 'the thread of a short reference', nameOption('thread'))
    .option('--lines <from-to>', 'only these lines, counted from 1', linesOption)
    .option('--search <text>', 'only the lines that hold this text')
    .option('--max-tokens <count>', 'cut after so many tokens', maxTokensOption)
  withCommonOptions(recall, [
    'heddle recall msg-1a2b3c4d --thread session',
    'heddle recall nexora://default/session/msg-1a2b3c4d --lines 10-50',
  ]).action((reference: string, options: RecallOptions) => recallContent(context, reference, options))
}

async function recallContent(context: CommandContext, reference: string, options: RecallOptions): Promise<void> {
  const { thread, lines, search, maxTokens } = options
  await withEngine(context, options, { stages: [] }, async (engine) => {
    const recalled = await engine.client.recall({
      ref: reference,
      ...(thread !== undefined && { thread }),
      ...(lines !== undefined && { lines }),
      ...(search !== undefined && { search }),
      // A person, or a program, that recalls wants all of it; the client's own bound is for models.
      maxTokens: maxTokens ?? limits.budgetTokensMax,
    })
    if (recalled.matchCount === 0) context.printer.note('no line holds this text')
    context.printer.exact(recalled.content, safeText(recalled.content), recalled)
  })
}
