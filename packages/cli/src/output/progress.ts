import { SingleBar } from 'cli-progress'
import { Rate } from './rate.js'
import { formatCount } from './table.js'

/** A progress display. Once stopped, it ignores updates. */
export interface Progress {
  update(done: number, total?: number): void
  stop(): void
}

export interface ProgressOptions {
  readonly label: string
  readonly total: number
  /** Whether to show the speed and the time left. */
  readonly rate: boolean
  readonly stream: NodeJS.WritableStream & { isTTY?: boolean }
  readonly write: (text: string) => void
  /** `json`: one object per line, for programs. */
  readonly form: 'text' | 'json' | 'none'
  readonly nowMs?: () => number
}

/** Shorter work shows no progress: a bar that flashes up is only noise. */
const SHOW_AFTER_MS = 1_000
/** Milliseconds between lines without a terminal, such as in a build log. */
const LINE_EVERY_MS = 5_000
/** Milliseconds between samples of the rate. */
const RATE_EVERY_MS = 500

/** A bar on a terminal, a line now and then elsewhere, nothing for the form `none`. */
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
  // Programs get a line only for long work; people see early that work is running.
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
