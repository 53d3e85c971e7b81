import { limits, validationError } from '@heddle/contracts'

/** @throws PermanentError `VALIDATION_ERROR` */
export function checkDeadline(deadlineMs: number): void {
  if (deadlineMs >= 1 && deadlineMs <= limits.waitMsMax) return
  throw validationError('deadlineMs', `must be 1 to ${limits.waitMsMax} milliseconds`, deadlineMs)
}
