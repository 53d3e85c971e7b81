import { PermanentError } from '@heddle/contracts'
import type { Clock } from '@heddle/runtime'

/** @throws PermanentError `TIMEOUT` where nobody waits for the answer any more */
export function refuseExpired({ deadlineAtMs }: { readonly deadlineAtMs: number }, clock: Pick<Clock, 'nowMs'>): void {
  if (deadlineAtMs > clock.nowMs()) return
  throw new PermanentError('TIMEOUT', 'the request was taken up after its deadline', {
    hint: 'add assemble workers, or wait longer',
  })
}
