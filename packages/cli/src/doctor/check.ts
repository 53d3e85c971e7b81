import { describeFailure } from '../output/failure.js'

/** One thing that was looked at. */
export interface Check {
  readonly name: string
  /** `skip`: could not be looked at, because of a check above that failed. */
  readonly status: 'ok' | 'warn' | 'fail' | 'skip'
  readonly detail: string
  /** What to do; on `warn` and `fail`. */
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

/** A check that threw has failed, with the error's own words and way out. */
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
