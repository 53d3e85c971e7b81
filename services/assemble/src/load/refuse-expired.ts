import { PermanentError } from '@heddle/contracts'
import type { Clock } from '@heddle/runtime'

/**
 * @param neededMs time that the work takes at present, if the request waited for other work; default 0
 * @throws PermanentError `TIMEOUT` if the requester's deadline has passed, or would pass before the work is done
 */
export function refuseExpired(
  { deadlineAtMs }: { readonly deadlineAtMs: number },
  clock: Pick<Clock, 'nowMs'>,
  neededMs = 0,
): void {
  const leftMs = deadlineAtMs - clock.nowMs()
  if (leftMs > neededMs) return
  const problem =
    leftMs > 0
      ? 'the request waited for others, and would be answered after its deadline'
      : 'the deadline of the request passed while it waited in the queue'
  throw new PermanentError('TIMEOUT', problem, { hint: 'add assemble workers, or give a longer deadline' })
}
