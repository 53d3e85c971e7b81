import type { Writable } from 'node:stream'
import pc from 'picocolors'
import { wantsColor } from './colors.js'
import { describeFailure, exitCodeOf, exitCodes, failureLines } from './failure.js'
import { layOut } from './layout.js'
import { createProgress, type Progress } from './progress.js'
import { safeLine, safeText } from './safe-text.js'
import type { Line } from './table.js'

/** A stream that may be a terminal. */
export type Terminal = Writable & { isTTY?: boolean; columns?: number }

export interface PrinterOptions {
  readonly stdout: Terminal
  readonly stderr: Terminal
  /** One JSON document instead of text for people. */
  readonly json: boolean
  /** The environment, for `NO_COLOR` and `FORCE_COLOR`. */
  readonly env: Readonly<Record<string, string | undefined>>
  /**
   * The command is a service: without a terminal, each of its lines is JSON, like those of its log. Default false.
   */
  readonly isService?: boolean
  /** A monotonic clock in milliseconds. Default `performance.now`. */
  readonly nowMs?: () => number
}

/**
 * The only thing that writes to the terminal. Results go to stdout; everything else (notes, progress, errors) goes to
 * stderr, so that `heddle ... | other` passes on results only.
 */
export interface Printer {
  readonly json: boolean
  readonly colors: ReturnType<typeof pc.createColors>
  /** The result of a command: the document with `--json`, else the lines. Called once per command. */
  result(document: unknown, lines: () => readonly Line[]): void
  /** A text byte for byte if stdout is not a terminal; with `--json` the document. */
  exact(text: string, forTerminal: string, document: unknown): void
  /** A long text piece by piece, at the reader's speed; it ends early once the reader is gone. */
  stream(lines: AsyncIterable<string>): Promise<void>
  /** A line for people before the result; nothing with `--json`. */
  note(text: string): void
  /** A command's help. */
  help(text: string): void
  failure(error: unknown): void
  /** A progress display; with `rate` also the speed and the time left, with `--json` as lines of JSON. */
  progress(label: string, total: number, options?: { readonly rate: boolean }): Progress
  /** Resolves when all output has been written. */
  flush(): Promise<void>
}

export function createPrinter(options: PrinterOptions): Printer {
  const { stdout, stderr, json, env, isService = false } = options
  const outJson = json || (isService && stdout.isTTY !== true)
  const errJson = json || (isService && stderr.isTTY !== true)
  const colors = pc.createColors(!outJson && wantsColor(env, stdout))
  const warnings = pc.createColors(!errJson && wantsColor(env, stderr))
  const out = guarded(stdout)
  const err = guarded(stderr)
  let helpText = ''

  return {
    json,
    colors,
    result(document, lines) {
      if (outJson) out.write(`${JSON.stringify(document)}\n`)
      else for (const line of layOut(lines(), widthOf(stdout))) out.write(`${safeLine(line)}\n`)
    },
    exact(text, forTerminal, document) {
      if (json) out.write(`${JSON.stringify(document)}\n`)
      else if (stdout.isTTY === true) out.write(`${safeLine(forTerminal)}\n`)
      else out.write(text)
    },
    async stream(lines) {
      for await (const line of lines) {
        if (!(await out.writeAndWait(stdout.isTTY === true ? safeText(line) : line))) return
      }
    },
    note(text) {
      if (!errJson) err.write(`${safeLine(text)}\n`)
    },
    help(text) {
      // Commander writes help in pieces; the document is written once.
      if (json) helpText += text
      else out.write(text)
    },
    failure(error) {
      // A usage error is for the person at the command line, so it stays text.
      if (json || (errJson && exitCodeOf(error) !== exitCodes.usage)) {
        err.write(`${JSON.stringify({ error: describeFailure(error) })}\n`)
        return
      }
      const { what, why, hint } = failureLines(error)
      err.write(`${warnings.red(`✗ ${what}`)}\n  why: ${why}\n  do:  ${hint}\n`)
    },
    progress(label, total, { rate } = { rate: false }) {
      const form = !errJson ? 'text' : rate ? 'json' : 'none'
      return createProgress({ label, total, rate, form, stream: stderr, write: err.write, ...clockOf(options) })
    },
    async flush() {
      if (helpText !== '') out.write(`${JSON.stringify({ help: helpText })}\n`)
      helpText = ''
      await Promise.all([out.flush(), err.flush()])
    },
  }
}

/** The width of the terminal; null without one. */
function widthOf({ isTTY, columns }: Terminal): number | null {
  return isTTY === true && columns !== undefined && columns > 0 ? columns : null
}

function clockOf(options: PrinterOptions): { nowMs?: () => number } {
  return options.nowMs === undefined ? {} : { nowMs: options.nowMs }
}

interface Guarded {
  write(text: string): void
  /** Resolves when the stream accepts more; false once the reader is gone. */
  writeAndWait(text: string): Promise<boolean>
  flush(): Promise<void>
}

/**
 * The reader of the output may stop reading, as in `heddle threads list | head -1`. That is not an error: the command runs to its
 * end (an import must not stop half-way), and further output is discarded.
 */
function guarded(stream: Terminal): Guarded {
  let open = true
  stream.on('error', (error: NodeJS.ErrnoException) => {
    open = false
    if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') throw error
  })
  return {
    write(text) {
      if (open) stream.write(text)
    },
    async writeAndWait(text) {
      if (!open || stream.destroyed) return false
      if (!stream.write(text)) {
        await new Promise<void>((resolve) => {
          const go = () => {
            for (const event of ['drain', 'error', 'close']) stream.off(event, go)
            resolve()
          }
          for (const event of ['drain', 'error', 'close']) stream.once(event, go)
        })
      }
      return open && !stream.destroyed
    },
    flush() {
      return new Promise((resolve) => {
        if (!open || stream.destroyed) resolve()
        else stream.write('', () => resolve())
      })
    },
  }
}
