/** From here on a person wonders; a part of a session takes less, also on a busy machine. */
const STALLED_AFTER_MS = 10_000

export interface StallNotice {
  /** Something was stored. */
  progressed(): void
  stop(): void
}

/** Reports once for each stall that nothing was stored for ten seconds: the import itself waits much longer. */
export function startStallNotice(onStall: (seconds: number) => void): StallNotice {
  let timer: NodeJS.Timeout | undefined
  const start = () => {
    clearTimeout(timer)
    timer = setTimeout(() => onStall(STALLED_AFTER_MS / 1_000), STALLED_AFTER_MS)
    timer.unref()
  }
  start()
  return { progressed: start, stop: () => clearTimeout(timer) }
}
