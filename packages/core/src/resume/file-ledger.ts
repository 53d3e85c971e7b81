import type { ToolCall } from '@heddle/contracts'
import type { Message } from '../conversation/message.js'
import { messageReference } from '../conversation/references.js'
import type { ToolPairs } from '../conversation/turns.js'
import type { ToolUse } from '../tools/catalog.js'

/** A file that a session read or changed. */
export interface LedgerFile {
  readonly path: string
  reads: number
  edits: number
  /** Its views, and the changes made to it, in the order of the session. */
  readonly views: Use[]
  readonly changes: Use[]
  /** The position of its latest use. */
  last: number
}

/** A view or a change, under the reference of the message that holds it. */
interface Use {
  readonly reference: string
  readonly characters: number
}

/** References of one file: its largest views and its last changes. */
const VIEWS_MAX = 3
const CHANGES_MAX = 3

/** The files of a session, those used last first. */
export function fileLedger(
  messages: readonly Message[],
  pairs: ToolPairs,
  useOf: (call: ToolCall) => ToolUse,
): LedgerFile[] {
  const files = new Map<string, LedgerFile>()
  for (const [place, message] of messages.entries()) {
    for (const { call, result } of pairs.byCallMessage.get(message.id) ?? []) {
      if (result?.isError !== true) addUse(files, { use: useOf(call), call: message, result, place })
    }
  }
  return [...files.values()].sort((left, right) => right.last - left.last)
}

interface Used {
  readonly use: ToolUse
  readonly call: Message
  readonly result: Message | null
  readonly place: number
}

function addUse(files: Map<string, LedgerFile>, { use, call, result, place }: Used): void {
  if (use.kind !== 'file_view' && use.kind !== 'edit') return
  for (const path of use.paths) {
    const file = files.get(path) ?? { path, reads: 0, edits: 0, views: [], changes: [], last: place }
    files.set(path, file)
    file.last = place
    if (use.kind === 'edit') {
      file.edits++
      file.changes.push({ reference: messageReference(call.code), characters: 0 })
    } else {
      file.reads++
      if (result === null) continue
      file.views.push({ reference: messageReference(result.code), characters: result.content.length })
    }
  }
}

/** A line of a ledger: `src/a.ts: edited twice (msg-…, msg-…), read once (msg-…)`. */
export function ledgerLine({ path, reads, edits, views, changes }: LedgerFile, root: string): string {
  const largest = views.toSorted((left, right) => right.characters - left.characters).slice(0, VIEWS_MAX)
  const parts = [
    ...(edits > 0 ? [`edited ${times(edits)}${listed(changes.slice(-CHANGES_MAX))}`] : []),
    ...(reads > 0 ? [`read ${times(reads)}${listed(largest)}`] : []),
  ]
  return `- ${path.startsWith(root) ? path.slice(root.length) : path}: ${parts.join(', ')}`
}

function listed(uses: readonly Use[]): string {
  return uses.length === 0 ? '' : ` (${uses.map(({ reference }) => reference).join(', ')})`
}

function times(count: number): string {
  return count === 1 ? 'once' : count === 2 ? 'twice' : `${count} times`
}

/** The folder that most paths of a ledger share, with its slash; empty if they share no folder. */
export function sharedRoot(paths: readonly string[]): string {
  const absolute = paths.filter((path) => path.startsWith('/'))
  const [first, ...others] = absolute
  if (first === undefined || others.length === 0) return ''
  let root = first.slice(0, first.lastIndexOf('/') + 1)
  for (const path of others) {
    while (root !== '' && !path.startsWith(root)) root = root.slice(0, root.lastIndexOf('/', root.length - 2) + 1)
  }
  return root.length > 1 ? root : ''
}
