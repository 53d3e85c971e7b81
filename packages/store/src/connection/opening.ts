import { within } from '@heddle/runtime'
import { unreachable } from './postgres-errors.js'

/** How long a server may take until it has taken a connection in. */
export const CONNECT_TIMEOUT_MS = 10_000

/**
 * The opening of one connection. postgres.js bounds each try to connect, but where something accepts a connection and
 * closes it without a word, as proxies and gateways do, it tries again without an end.
 */
export interface Opening {
  /** To be called once the server has answered. */
  readonly opened: () => void
  /** The outcome of work on that connection; a failure, and `onOverdue` called, where it does not open in time. */
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
