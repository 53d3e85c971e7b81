import { within } from '@heddle/runtime'
import { unreachable } from './postgres-errors.js'

/** Time limit until the server has accepted a connection. */
export const CONNECT_TIMEOUT_MS = 10_000

/**
 * The opening of one connection. postgres.js limits each attempt to connect; but if a proxy or gateway accepts the connection
 * and closes it without an answer, it retries without end.
 */
export interface Opening {
  /** To be called once the server has answered. */
  readonly opened: () => void
  /** The result of work on that connection; fails, and calls `onOverdue`, if it does not open in time. */
  within<T>(work: Promise<T>, onOverdue?: () => void): Promise<T>
}

/** @throws RetryableError `SERVICE_UNAVAILABLE`, from `within` */
export function watchOpening(timeoutMs: number = CONNECT_TIMEOUT_MS): Opening {
  let isOpen = false
  let onOpened = () => {}
  const opening = new Promise<void>((resolve) => {
    onOpened = resolve
  })
  return {
    opened() {
      isOpen = true
      onOpened()
    },
    async within(work, onOverdue) {
      const late = () => {
        onOverdue?.()
        throw unreachable(`no connection within ${timeoutMs / 1_000} s`)
      }
      if (!isOpen) await within(Promise.race([work, opening]), { timeoutMs, late })
      return await work
    },
  }
}
