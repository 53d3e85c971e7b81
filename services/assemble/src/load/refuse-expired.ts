import { PermanentError } from '@heddle/contracts'
import type { Clock } from '@heddle/runtime'

/** @throws PermanentError `TIMEOUT` if the requester's deadline has passed */
export function refuseExpired({ deadlineAtMs }: { readonly deadlineAtMs: number }, clock: Pick<Clock, 'nowMs'>): void {
  if (deadlineAtMs > clock.nowMs()) return
  throw new PermanentError('TIMEOUT', 'the deadline of the request passed while it waited in the queue', {
    hint: 'add assemble workers, or give a longer deadline',
  })
}
