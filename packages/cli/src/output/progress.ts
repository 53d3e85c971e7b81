import { SingleBar } from 'cli-progress'
import { formatCount } from './table.js'

/** How far something is. A finished or stopped one ignores updates. */
export interface Progress {
  update(done: number, total?: number): void
  stop(): void
}

export interface ProgressOptions {
  readonly label: string
  readonly total: number
  readonly stream: NodeJS.WritableStream & { isTTY?: boolean }
  readonly write: (text: string) => void
  readonly silent: boolean
  readonly nowMs?: () => number
}

/** What is done sooner shows nothing: a flash of a bar says less than silence. */
const SHOW_AFTER_MS = 1_000
/** Where nobody watches, such as a build log, one line in so many milliseconds. */
const LINE_EVERY_MS = 5_000

/** A bar on a terminal, a plain line now and then elsewhere, nothing with `silent`. */
export function createProgress(options: ProgressOptions): Progress {
  const nowMs = options.nowMs ?? (() => performance.now())
  const startedAtMs = nowMs()
  if (options.silent) return { update: () => undefined, stop: () => undefined }
  return options.stream.isTTY === true ? bar(options, nowMs, startedAtMs) : lines(options, nowMs, startedAtMs)
}

function bar(options: ProgressOptions, nowMs: () => number, startedAtMs: number): Progress {
  let shown: SingleBar | null = null
  let total = options.total
  let stopped = false
  return {
    update(done, newTotal) {
      if (stopped) return
      total = newTotal ?? total
      if (shown === null) {
        if (nowMs() - startedAtMs < SHOW_AFTER_MS) return
        shown = new SingleBar({
          format: `  ${options.label} {bar} {percentage}% · {value} of {total}`,
          stream: options.stream,
          clearOnComplete: true,
          hideCursor: false,
          // Signals are handled in one place; a second handler here would race it.
          gracefulExit: false,
          fps: 10,
        })
        shown.start(total, done)
      }
      shown.setTotal(total)
      shown.update(done)
    },
    stop() {
      stopped = true
      shown?.stop()
    },
  }
}

function lines(options: ProgressOptions, nowMs: () => number, startedAtMs: number): Progress {
  let total = options.total
  let lastLineAtMs = startedAtMs - LINE_EVERY_MS + SHOW_AFTER_MS
  let stopped = false
  return {
    update(done, newTotal) {
      total = newTotal ?? total
      if (stopped || nowMs() - lastLineAtMs < LINE_EVERY_MS) return
      lastLineAtMs = nowMs()
      options.write(`  ${options.label}: ${formatCount(done)} of ${formatCount(total)}\n`)
    },
    stop() {
      stopped = true
    },
  }
}
