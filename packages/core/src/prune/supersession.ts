import type { LineRange } from '../tools/ranges.js'
import { covers } from '../tools/ranges.js'
import type { ToolEvent } from './events.js'

export type SupersededBy = 'edit' | 'view'

/** Later views of one file that an earlier one is compared with; beyond it a view counts as current. */
const VIEWS_COMPARED_MAX = 200

/**
 * Finds the file views that show nothing that is still true or not shown again: the file was edited later with success,
 * or the same lines were viewed again. A failed call supersedes nothing.
 *
 * @param events results with their calls, in conversation order
 * @returns by the id of the result's message
 */
export function findSuperseded(events: readonly ToolEvent[]): Map<string, SupersededBy> {
  const superseded = new Map<string, SupersededBy>()
  const edited = new Set<string>()
  const viewedLater = new Map<string, View[]>()
  for (const { result, use, outcome, paths } of events.toReversed()) {
    if (outcome.failed) continue
    if (use.kind === 'edit') for (const path of paths) edited.add(path)
    if (use.kind !== 'file_view' || paths.length === 0) continue
    const view = { requested: use.range, shown: outcome.shown }
    if (paths.every((path) => edited.has(path))) superseded.set(result.id, 'edit')
    else if (
      paths.every((path) => edited.has(path) || viewedLater.get(path)?.some((later) => showsAllOf(later, view)))
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

interface View {
  readonly requested: LineRange | null
  readonly shown: LineRange | null
}

/** By the lines that both really show where they number them (a viewer may cut a long file), else by what was asked for. */
function showsAllOf(later: View, earlier: View): boolean {
  if (later.shown && earlier.shown) return covers(later.shown, earlier.shown)
  return covers(later.requested, earlier.requested)
}

/** Some tools answer a repeated view by pointing at the earlier one, which then is the one to keep. */
function saysUnchanged(content: string): boolean {
  return /^\s*(?:<[a-z_-]{1,40}>)?\s*file (?:is )?unchanged\b/i.test(content.slice(0, 200))
}
