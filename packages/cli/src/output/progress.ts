import { SingleBar } from 'cli-progress'
import { Rate } from './rate.js'
import { formatCount } from './table.js'

/** How far something is. A finished or stopped one ignores updates. */
export interface Progress {
  update(done: number, total?: number): void
  stop(): void
}

export interface ProgressOptions {
  readonly label: string
  readonly total: number
  /** Whether to tell how fast it goes and how long it takes still. */
  readonly rate: boolean
  readonly stream: NodeJS.WritableStream & { isTTY?: boolean }
  readonly write: (text: string) => void
  /** `json`: an object a line, for programs. */
  readonly form: 'text' | 'json' | 'none'
  readonly nowMs?: () => number
}

/** What is done sooner shows nothing: a flash of a bar says less than silence. */
const SHOW_AFTER_MS = 1_000
/** Where nobody watches, such as a build log, one line in so many milliseconds. */
const LINE_EVERY_MS = 5_000
/** A rate is told no more often: each look at it is a sample. */
const RATE_EVERY_MS = 500

/** A bar on a terminal, a line now and then elsewhere, nothing where nobody wants to know. */
export function createProgress(options: ProgressOptions): Progress {
  const nowMs = options.nowMs ?? (() => performance.now())
  const startedAtMs = nowMs()
  if (options.form === 'none') return { update: () => undefined, stop: () => undefined }
  const isBar = options.form === 'text' && options.stream.isTTY === true
  return isBar ? bar(options, nowMs, startedAtMs) : lines(options, nowMs, startedAtMs)
}

function bar(options: ProgressOptions, nowMs: () => number, startedAtMs: number): Progress {
  const rate = new Rate(startedAtMs)
  let shown: SingleBar | null = null
  let total = options.total
  let stopped = false
  let ratedAtMs = Number.NEGATIVE_INFINITY
  let speed = ''
  return {
    update(done, newTotal) {
      if (stopped) return
      total = newTotal ?? total
      const atMs = nowMs()
      if (options.rate && atMs - ratedAtMs >= RATE_EVERY_MS) {
        ratedAtMs = atMs
        speed = speedText(rate.at(atMs, { done, total }), total - done)
      }
      if (shown === null) {
        if (atMs - startedAtMs < SHOW_AFTER_MS) return
        shown = new SingleBar({
          format: `  ${options.label} {bar} {percentage}% · {value} of {total}{speed}`,
          stream: options.stream,
          clearOnComplete: true,
          hideCursor: false,
          // Signals are handled in one place; a second handler here would race it.
          gracefulExit: false,
          fps: 10,
        })
        shown.start(total, done, { speed })
      }
      shown.setTotal(total)
      shown.update(done, { speed })
    },
    stop() {
      stopped = true
      shown?.stop()
    },
  }
}

function lines(options: ProgressOptions, nowMs: () => number, startedAtMs: number): Progress {
  const { label } = options
  const rate = new Rate(startedAtMs)
  // Programs are told of what takes long; people of what is under way.
  const firstAfterMs = options.form === 'json' ? LINE_EVERY_MS : SHOW_AFTER_MS
  let total = options.total
  let lastLineAtMs = startedAtMs - LINE_EVERY_MS + firstAfterMs
  let stopped = false
  return {
    update(done, newTotal) {
      total = newTotal ?? total
      const atMs = nowMs()
      if (stopped || atMs - lastLineAtMs < LINE_EVERY_MS) return
      lastLineAtMs = atMs
      const speed = rate.at(atMs, { done, total })
      const left = total - done
      if (options.form === 'json') {
        options.write(`${JSON.stringify({ progress: { label, done, total, left, ...speed } })}\n`)
        return
      }
      const told = options.rate ? speedText(speed, left) : ''
      options.write(`  ${label}: ${formatCount(done)} of ${formatCount(total)}${told}\n`)
    },
    stop() {
      stopped = true
    },
  }
}

function speedText({ perSecond, secondsLeft }: ReturnType<Rate['at']>, left: number): string {
  const rest = `${formatCount(left)} left`
  if (secondsLeft === null) return ` · ${rest}`
  return ` · ${formatCount(Math.round(perSecond))} a second · ${rest}, about ${formatCount(secondsLeft)} s`
}
