import { RetryableError, type StageName } from '@heddle/contracts'
import type { Engine } from '@heddle/host'

/**
 * Fails at once if a command would wait for a paused stage: the wait itself would not show the reason, and a pause lasts until
 * somebody resumes the stage.
 *
 * @throws RetryableError `SERVICE_UNAVAILABLE`
 */
export async function refusePaused({ queues }: Engine, stage: StageName): Promise<void> {
  const stats = await queues.stats()
  if (!stats.some((each) => each.stage === stage && each.paused)) return
  throw new RetryableError('SERVICE_UNAVAILABLE', `the stage "${stage}" is paused`, {
    hint: `Run \`heddle queues resume --stage ${stage}\`, then this command again. Nothing was sent.`,
  })
}
