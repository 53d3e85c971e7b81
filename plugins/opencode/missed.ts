/** Sessions that are made up for. */
const SESSIONS_MAX = 1_000

/** Sessions with events that were not sent, and since when. */
export class MissedSessions {
  readonly #sessions = new Map<string, { sinceMs: number; lastMs: number }>()

  get size(): number {
    return this.#sessions.size
  }

  add(session: string, atMs: number): void {
    const known = this.#sessions.get(session)
    if (known === undefined && this.#sessions.size >= SESSIONS_MAX) return
    const { sinceMs, lastMs } = known ?? { sinceMs: atMs, lastMs: atMs }
    this.#sessions.set(session, { sinceMs: Math.min(sinceMs, atMs), lastMs: Math.max(lastMs, atMs) })
  }

  /**
   * The next session, once what its last event is about is stored; null where there is no more. A later event adds it again,
   * so it is taken before it is read.
   */
  async take(storedMs: number): Promise<{ session: string; sinceMs: number } | null> {
    for (const [session, first] of this.#sessions) {
      const waitMs = first.lastMs + storedMs - Date.now()
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
      const { sinceMs, lastMs } = this.#sessions.get(session) ?? first
      this.#sessions.delete(session)
      // Of an event that came while this one waited.
      if (Date.now() - lastMs < storedMs && lastMs > first.lastMs) this.add(session, lastMs)
      return { session, sinceMs }
    }
    return null
  }
}
