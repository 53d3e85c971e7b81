import type { AdapterOptions } from '@heddle/client/adapters'

export interface HeddleSessionOptions extends AdapterOptions {
  /** Heddle's agent, whose settings hold for the session. A new one shows messages of all ages. */
  readonly agent: string
  /** Names the session, and the thread of its items. Default: a new UUID. */
  readonly sessionId?: string | undefined
}

/** Items that are kept in memory while Heddle is away. */
export const PENDING_ITEMS_MAX = 10_000
