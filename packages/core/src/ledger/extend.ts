import type { ToolRule } from '@heddle/contracts'
import type { Conversation } from '../conversation/conversation.js'
import type { Message, Position } from '../conversation/message.js'
import { comparePositions } from '../conversation/order.js'
import { checkIn, importanceOf, lastWords } from '../extractive/actions.js'
import { type Action, actionOf } from '../extractive/calls.js'
import type { Pausable } from '../recall/steps.js'
import { redactSecrets } from '../summarizing/redact.js'
import { toolCatalogOf } from '../tools/catalog.js'
import { oneLine, truncate } from '../tools/lines.js'
import { normalizePath } from '../tools/paths.js'
import { describeToolResult } from '../tools/results.js'
import { ARTIFACTS_MAX, type Artifact, byUse, type Ledger } from './artifact.js'
import { linesAfter, movedTo } from './file-changes.js'
import { Files } from './files.js'
import { type Mention, mentionsIn } from './mentions.js'

/** Calls read of one message. */
const CALLS_MAX = 100
/** Characters of a call in which addresses are searched. */
const CALL_CHARACTERS_MAX = 8_000
const NAME_CHARACTERS_MAX = 300
const DETAIL_CHARACTERS_MAX = 100
/** Messages remembered for each artifact, the latest. */
const CODES_MAX = 3

/** The messages of a compaction that its predecessor had not seen. */
export interface LedgerRange {
  readonly conversation: Pick<Conversation, 'messages' | 'pairs'>
  /** Null for the first compaction. */
  readonly after: Position | null
  /** The last message that the ledger then stands for. */
  readonly to: Position
  readonly tools: readonly ToolRule[]
}

/**
 * The ledger with the calls of further messages that were answered. A call that failed, or that nobody answered, changes no
 * file. In time linear in the messages; names and outputs are redacted.
 */
export function* extendLedger(before: Ledger | null, range: LedgerRange): Pausable<Ledger> {
  const { conversation, after, to, tools } = range
  const catalog = toolCatalogOf(tools)
  const book = new Book(before)
  let code = before?.code ?? ''
  for (const message of conversation.messages) {
    if (after !== null && comparePositions(message, after) <= 0) continue
    if (comparePositions(message, to) > 0) break
    for (const call of message.toolCalls.slice(0, CALLS_MAX)) book.mention(actionOf(call, catalog), message.code)
    const pair = conversation.pairs.byResult.get(message.id)
    if (pair !== undefined) book.answer(actionOf(pair.call, catalog), pair.callMessage.code, message)
    code = message.code
    yield
  }
  return book.close(code)
}

class Book {
  readonly #artifacts = new Map<string, Artifact>()
  readonly #files = new Files()
  #changes: number
  #dropped: number

  constructor(before: Ledger | null) {
    this.#changes = before?.changes ?? 0
    this.#dropped = before?.dropped ?? 0
    for (const artifact of before?.artifacts ?? []) {
      this.#artifacts.set(keyOf(artifact), artifact)
      if (artifact.kind === 'file') this.#files.add(artifact.name)
    }
  }

  /** The most useful artifacts within the bound, in their order. */
  close(code: string): Ledger {
    const all = [...this.#artifacts.values()]
    const kept = new Set(all.toSorted(byUse).slice(0, ARTIFACTS_MAX))
    return {
      code,
      artifacts: all.filter((artifact) => kept.has(artifact)),
      dropped: this.#dropped + all.length - kept.size,
      changes: this.#changes,
    }
  }

  mention({ use, added, label }: Action, code: string): void {
    if (use.kind === 'edit' || use.kind === 'file_view') return
    for (const mention of mentionsIn(`${label}\n${added.slice(0, CALL_CHARACTERS_MAX)}`)) this.#note(mention, code)
  }

  answer(action: Action, code: string, { content, isError }: Message): void {
    const { use, label } = action
    const outcome = describeToolResult(use, content, isError)
    const hasFailed = outcome.failed || outcome.exitStatus === 'failed'
    if (!hasFailed) this.#changeFiles(action, code)
    if (use.kind === 'edit' || use.kind === 'file_view' || label === '' || importanceOf(action) === 0) return
    const last = use.kind === 'bash' || use.command !== null ? lastWords(content) : ''
    const status = outcome.exitStatus === 'ok' || outcome.exitStatus === 'exit 0' ? '' : outcome.exitStatus
    this.#set({
      kind: 'command',
      name: label,
      state: hasFailed ? 'failed' : 'passed',
      detail: [status, last].filter((part) => part !== '').join(', '),
      code,
    })
    const check = use.kind === 'bash' ? checkIn(label) : null
    if (check !== null) this.#check({ name: plain(check, DETAIL_CHARACTERS_MAX), passed: !hasFailed })
  }

  #changeFiles(action: Action, code: string): void {
    const { use } = action
    for (const path of use.paths) {
      if (use.kind === 'edit') {
        const lines = linesAfter(action, this.#file(path)?.lines ?? null)
        this.#set({ kind: 'file', name: path, state: 'written', lines, code })
      } else if (use.kind === 'file_view' && (this.#file(path)?.state ?? 'read') === 'read') {
        this.#set({ kind: 'file', name: path, state: 'read', code })
      }
    }
    for (const [index, { path, gone }] of use.writes.entries()) {
      const to = gone ? movedTo(use, index) : null
      if (!gone) this.#set({ kind: 'file', name: path, state: 'written', code })
      else this.#remove(path, to === null ? { state: 'deleted' } : { state: 'moved', detail: `to ${to}` }, code)
    }
  }

  /** A folder takes the files along that are in it. */
  #remove(path: string, change: Pick<Change, 'state' | 'detail'>, code: string): void {
    const folder = `${this.#nameOf(path)}/`
    for (const artifact of [...this.#artifacts.values()]) {
      if (artifact.kind === 'file' && artifact.name.startsWith(folder) && artifact.state !== 'deleted')
        this.#set({ kind: 'file', name: artifact.name, ...change, code })
    }
    this.#set({ kind: 'file', name: path, ...change, code })
  }

  /** A check that passed settles all changes before it; after a failed one, another may follow. */
  #check(check: NonNullable<Artifact['check']>): void {
    for (const [key, artifact] of this.#artifacts) {
      const isOpen = artifact.check?.passed !== true
      if (artifact.kind === 'file' && artifact.state === 'written' && isOpen)
        this.#artifacts.set(key, { ...artifact, check })
    }
  }

  #note({ kind, name }: Mention, code: string): void {
    this.#set({ kind, name, state: null, code })
  }

  #file(path: string): Artifact | undefined {
    return this.#artifacts.get(keyOf({ kind: 'file', name: this.#nameOf(path) }))
  }

  #nameOf(path: string): string {
    return this.#files.nameOf(plain(normalizePath(path), NAME_CHARACTERS_MAX))
  }

  #set({ kind, name: given, state, lines = null, detail = '', code }: Change): void {
    const name = kind === 'file' ? this.#nameOf(given) : plain(given, NAME_CHARACTERS_MAX)
    if (name === '' || name === '/' || name === '.') return
    const longer = kind === 'file' ? this.#files.add(name) : null
    // A file that was known by the end of its path.
    if (longer !== null) this.#rename(longer.from, longer.to)
    const key = keyOf({ kind, name: longer?.to ?? name })
    const codes = this.#artifacts.get(key)?.codes ?? []
    this.#artifacts.set(key, {
      kind,
      name: longer?.to ?? name,
      state,
      lines,
      detail: plain(detail, DETAIL_CHARACTERS_MAX),
      check: null,
      codes: codes.at(-1) === code ? codes : [...codes, code].slice(-CODES_MAX),
      at: this.#changes++,
    })
  }

  #rename(from: string, to: string): void {
    const artifact = this.#artifacts.get(keyOf({ kind: 'file', name: from }))
    if (artifact === undefined) return
    // The order of lines stays.
    const entries = [...this.#artifacts.entries()].map(([key, value]): [string, Artifact] =>
      value === artifact ? [keyOf({ kind: 'file', name: to }), { ...artifact, name: to }] : [key, value],
    )
    this.#artifacts.clear()
    for (const [key, value] of entries) this.#artifacts.set(key, value)
  }
}

interface Change extends Pick<Artifact, 'kind' | 'name' | 'state'> {
  readonly lines?: number | null
  readonly detail?: string
  readonly code: string
}

function keyOf({ kind, name }: Pick<Artifact, 'kind' | 'name'>): string {
  return `${kind} ${name}`
}

function plain(text: string, charactersMax: number): string {
  return truncate(redactSecrets(oneLine(text)), charactersMax)
}
