import { errorLine, firstMeaningfulLine } from '../prune/one-line.js'
import type { Candidate } from '../speech/sections.js'
import type { SummarySource } from '../speech/source.js'
import { oneLine, truncate } from '../tools/lines.js'
import type { Action } from './calls.js'
import type { PathView } from './path-view.js'

export interface ErrorRecord {
  readonly line: string
  readonly label: string
  /** Whether a tool was misused, which is not a problem of the work itself. */
  readonly isUsage: boolean
  times: number
  place: number
  reference: string
  /** The files edited between the failure and the first success of the same call; null while it is unresolved. */
  resolution: string | null
  readonly edited: Set<string>
}

/** Bounds memory; more distinct failures do not improve a summary. */
const ERRORS_MAX = 2_000
const OPEN_MAX = 20
const EDITED_MAX = 3

/** The failures of a conversation, and the edits that resolved them. */
export class ErrorLog {
  private readonly errors = new Map<string, ErrorRecord>()
  private readonly open = new Map<string, ErrorRecord[]>()

  failed(source: SummarySource, action: Action, key: string, place: number): void {
    const line = truncate(oneLine(errorLine(source.text) ?? firstMeaningfulLine(source.text)), 200)
    if (line === '') return
    const label = truncate(action.use.path ?? action.label, 80) || action.name
    const id = `${key} ${line}`
    const isUsage = /^\s*<tool_use_error>/.test(source.text) || !['bash', 'other'].includes(action.use.kind)
    const fresh = { line, label, isUsage, times: 0, place, reference: '', resolution: null, edited: new Set<string>() }
    const error = this.errors.get(id) ?? fresh
    if (this.errors.size < ERRORS_MAX) this.errors.set(id, error)
    error.times++
    error.place = place
    error.reference = source.reference
    error.resolution = null
    const open = this.open.get(key) ?? []
    if (open.length < OPEN_MAX && !open.includes(error)) this.open.set(key, [...open, error])
  }

  edited(path: string): void {
    for (const errors of this.open.values()) {
      for (const { edited } of errors) if (edited.size < EDITED_MAX) edited.add(path)
    }
  }

  succeeded(key: string): void {
    for (const error of this.open.get(key) ?? []) {
      const edited = [...error.edited]
      error.resolution = edited.length > 0 ? `passes since ${edited.join(', ')} was edited` : 'resolved later'
    }
    this.open.delete(key)
  }

  all(): readonly ErrorRecord[] {
    return [...this.errors.values()]
  }

  candidates(recency: (place: number) => number, paths: PathView): Candidate[] {
    return [...this.errors.values()].map((error): Candidate => {
      const often = error.times > 1 ? `, ${error.times} times` : ''
      const text = paths.within(`${error.line} (${error.label}${often}; ${error.resolution ?? 'not seen resolved'})`)
      const isOpen = error.resolution === null
      const score =
        3 + Math.log2(error.times) * 2 + 3 * recency(error.place) + (isOpen ? 2 : 0) - (error.isUsage ? 4 : 0)
      return { section: 'errors', text, score, place: error.place, reference: error.reference }
    })
  }
}
