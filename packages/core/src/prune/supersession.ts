import { covers, type LineRange } from '../tools/ranges.js'
import type { ToolEvent } from './events.js'

export type SupersededBy = 'edit' | 'view' | 'search' | 'identical call'

/** Later views of one file that an earlier one is compared with; beyond that it counts as current. */
const VIEWS_COMPARED_MAX = 200

/**
 * Finds the results that a later one makes obsolete: file views whose contents are outdated or shown again (the file
 * was edited, written, moved or deleted later with success, or the same lines were viewed again), searches that were
 * repeated, and calls that were repeated with the identical answer. A repeated, unchanged result stays in its later
 * form, so no information is lost. A failed call supersedes nothing.
 *
 * @param events results with their calls, in conversation order
 * @returns by the id of the result's message
 */
export function findSuperseded(events: readonly ToolEvent[]): Map<string, SupersededBy> {
  const superseded = new Map<string, SupersededBy>()
  const changed = new ChangedFiles()
  const viewedLater = new Map<string, View[]>()
  const repeated = new RepeatedCalls()
  for (const event of events.toReversed()) {
    const { result, use, outcome, paths } = event
    if (outcome.failed) continue
    changed.note(event)
    const again = repeated.note(event)
    if (use.kind !== 'file_view' || paths.length === 0) {
      if (again !== null) superseded.set(result.id, again)
      continue
    }
    const view = { requested: use.range, shown: outcome.shown }
    if (paths.every((path) => changed.has(path))) superseded.set(result.id, 'edit')
    else if (
      paths.every((path) => changed.has(path) || viewedLater.get(path)?.some((later) => showsAllOf(later, view)))
    ) {
      superseded.set(result.id, 'view')
    }
    if (saysUnchanged(result.content)) continue
    for (const path of paths) {
      const views = viewedLater.get(path) ?? []
      if (views.length < VIEWS_COMPARED_MAX) viewedLater.set(path, [...views, view])
    }
  }
  return superseded
}

/**
 * Finds the edits and writes of files whose whole content a later call wrote: nothing of their input is in the file any more.
 *
 * @param events results with their calls, in conversation order
 */
export function findOverwritten(events: readonly ToolEvent[]): Set<ToolEvent> {
  const overwritten = new Set<ToolEvent>()
  const writtenLater = new Set<string>()
  for (const event of events.toReversed()) {
    const { use, outcome, paths } = event
    if (outcome.failed || use.kind !== 'edit' || paths.length === 0) continue
    if (paths.every((path) => writtenLater.has(path))) overwritten.add(event)
    if (use.writesWhole) for (const path of paths) writtenLater.add(path)
  }
  return overwritten
}

/** In a scan from the end: the files changed with success after the current position. */
class ChangedFiles {
  readonly #files = new Set<string>()
  /** Files and folders that were moved away or deleted. */
  readonly #gone = new Set<string>()

  note({ use, outcome, paths, writes }: ToolEvent): void {
    if (use.kind === 'edit') for (const path of paths) this.#files.add(path)
    // Failures of a shell are less reliable to detect than an editor's: if its output ends in an error, the change is
    // not certain.
    if (outcome.exitStatus === 'failed') return
    for (const { path, gone } of writes) (gone ? this.#gone : this.#files).add(path)
  }

  has(path: string): boolean {
    if (this.#files.has(path) || this.#gone.has(path)) return true
    if (this.#gone.size === 0) return false
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
      if (this.#gone.has(path.slice(0, at))) return true
    }
    return false
  }
}

/** Calls of one tool with the same arguments. */
class RepeatedCalls {
  readonly #later = new Map<string, string>()

  /**
   * A repeated search shows the current state. Of other calls the answers must be identical: two runs of a test with
   * different results are two facts. An edit is never a repetition.
   */
  note({ use, pair, result }: ToolEvent): SupersededBy | null {
    if (pair === null || use.kind === 'edit' || use.writes.length > 0) return null
    const { name, arguments: given } = pair.call
    const key = `${name} ${typeof given === 'string' ? given : JSON.stringify(given)}`
    const later = this.#later.get(key)
    const answer = [
      result.content,
      ...(result.parts ?? []).map(({ sha256, url, fileId }) => sha256 ?? url ?? fileId),
    ].join()
    if (later === undefined) this.#later.set(key, answer)
    if (later === undefined || use.kind === 'file_view') return null
    if (later === answer) return 'identical call'
    return use.kind === 'grep' ? 'search' : null
  }
}

interface View {
  readonly requested: LineRange | null
  readonly shown: LineRange | null
}

/** Compares the lines actually shown if they are numbered (a viewer may cut a long file), else the requested ones. */
function showsAllOf(later: View, earlier: View): boolean {
  if (later.shown && earlier.shown) return covers(later.shown, earlier.shown)
  return covers(later.requested, earlier.requested)
}

/** Some tools answer a repeated view by referring to the earlier one, which must then be kept. */
function saysUnchanged(content: string): boolean {
  return /^\s*(?:<[a-z_-]{1,40}>)?\s*file (?:is )?unchanged\b/i.test(content.slice(0, 200))
}
