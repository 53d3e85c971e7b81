import { describeFailure } from '../output/failure.js'

/** The result of one check. */
export interface Check {
  readonly name: string
  /** `skip`: not run, because a check above failed. */
  readonly status: 'ok' | 'warn' | 'fail' | 'skip'
  readonly detail: string
  /** How to fix it; for `warn` and `fail`. */
  readonly hint?: string
}

export function passed(name: string, detail: string): Check {
  return { name, status: 'ok', detail }
}

export function warned(name: string, detail: string, hint: string): Check {
  return { name, status: 'warn', detail, hint }
}

export function failed(name: string, detail: string, hint: string): Check {
  return { name, status: 'fail', detail, hint }
}

/** A failed check with the message and the hint of the error that it threw. */
export function failedBy(name: string, error: unknown): Check {
  const { detail, hint } = describeFailure(error)
  return failed(
    name,
    detail.replace(/\s+/g, (run) => (run.includes('\n') ? ' ' : run)),
    hint,
  )
}

export function skipped(name: string): Check {
  return { name, status: 'skip', detail: 'skipped, because a check above failed' }
}
