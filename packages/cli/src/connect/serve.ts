import type { Surroundings } from '@heddle/host/serving'
import { type Config, limitHeapGrowth } from '@heddle/runtime'
import { InterruptedError } from '../output/failure.js'
import { type CommandContext, loggerOf } from './context.js'

/** Runs a command that serves until it is stopped, which is its normal end. */
export async function serve(
  context: CommandContext,
  config: Config,
  run: (surroundings: Surroundings) => Promise<void>,
): Promise<void> {
  limitHeapGrowth()
  const log = loggerOf(context, config, 'service')
  context.ownOutput(log)
  try {
    await run({ context, config, log })
  } catch (error) {
    if (!(error instanceof InterruptedError)) throw error
  }
}
