import { type Action, actionsOf } from '../extractive/calls.js'
import type { SummarySource } from '../speech/source.js'
import type { FileEffect } from '../tools/file-commands.js'
import { fileEffects } from '../tools/file-effects.js'
import { patchEffects } from '../tools/patches.js'
import { normalizePath } from '../tools/paths.js'
import { describeToolResult } from '../tools/results.js'

/** The last effect of calls on a file. */
export type FileState = 'read' | 'written' | 'deleted'

interface Change {
  readonly state: FileState
  /** Later changes have a higher number. */
  readonly at: number
}

/** Calls of one message whose results are expected next. */
const PENDING_MAX = 100
/** A longer path is no file; each of its folders is looked up. */
export const PATH_CHARACTERS_MAX = 1_000
/** Bounds memory. */
const FILES_MAX = 20_000

/** The states that files have after the calls that succeeded, as far as the calls say. */
export class FileStates {
  readonly #changes = new Map<string, Change>()
  #count = 0
  #pending: Action[] = []

  addCalls(source: SummarySource): readonly Action[] {
    const actions = actionsOf(source)
    this.#pending = actions.slice(0, PENDING_MAX)
    return actions
  }

  /** A call that failed, or that nobody answered, changes nothing. */
  addResult({ toolName, text, isError }: SummarySource): void {
    const named = this.#pending.findIndex(({ name }) => name === toolName)
    const [action] = this.#pending.splice(Math.max(named, 0), 1)
    if (action === undefined) return
    const { use } = action
    const { failed, exitStatus } = describeToolResult(use, text, isError)
    const hasRun = !failed || exitStatus.startsWith('exit ')
    if (use.kind === 'bash' && use.command !== null) {
      for (const effect of fileEffects(use.command, { hasSucceeded: !failed, hasRun, output: text }))
        this.#apply(effect)
    }
    if (failed || exitStatus === 'failed') return
    for (const path of use.paths) {
      if (use.kind === 'edit') this.#set(path, 'written')
      else if (use.kind === 'file_view' && this.of([path]) !== 'written') this.#set(path, 'read')
    }
    if (use.kind === 'edit') for (const effect of patchEffects(action)) this.#apply(effect)
  }

  #apply(effect: FileEffect): void {
    const { kind, path } = effect
    if (kind === 'view' && this.of([path]) !== 'written') this.#set(path, 'read')
    if (kind === 'remove' || kind === 'move') this.#set(path, 'deleted')
    if (kind === 'write' || (kind === 'create' && !this.#isThere(path))) this.#set(path, 'written')
    if ('to' in effect)
      this.#set(effect.isInto ? `${effect.to}/${path.slice(path.lastIndexOf('/') + 1)}` : effect.to, 'written')
  }

  #isThere(path: string): boolean {
    const state = this.of([path])
    return state === 'read' || state === 'written'
  }

  /**
   * The last state of a file by any of its spellings; null for one that was only named. A folder that is deleted takes the files
   * along that were in it until then.
   */
  of(spellings: Iterable<string>): FileState | null {
    let last: Change | null = null
    for (const given of spellings) {
      const path = normalizePath(given)
      const own = this.#changes.get(path)
      if (own === undefined) continue
      for (const change of [own, ...this.#deletionsAbove(path)]) if (last === null || change.at > last.at) last = change
    }
    return last?.state ?? null
  }

  #deletionsAbove(path: string): Change[] {
    const deletions: Change[] = []
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const change = this.#changes.get(path.slice(0, end))
      if (change?.state === 'deleted') deletions.push(change)
    }
    return deletions
  }

  #set(given: string, state: FileState): void {
    const isFile = given.length <= PATH_CHARACTERS_MAX
    if (isFile && this.#changes.size < FILES_MAX) this.#changes.set(normalizePath(given), { state, at: this.#count++ })
  }
}
