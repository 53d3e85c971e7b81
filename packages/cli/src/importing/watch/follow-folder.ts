import { HeddleError, PermanentError } from '@heddle/contracts'
import { backOffMs, type Clock } from '@heddle/runtime'
import { type FailedImport, isOfOneSession, notStored, unreadable } from '../failed.js'
import type { SentThread } from '../send-file.js'
import type { FileStamp, FoundFile } from './find-sessions.js'
import { type ImportedSession, type KnownSession, newSession } from './import-session.js'

/**
 * A file is read once it was unchanged for so long: agents write a reply in several lines, within moments, and a reply that is
 * stored whole is one message.
 */
export const QUIET_MS = 2_000
/** A file that never pauses is read this long after its first change. */
export const LATEST_MS = 10_000
/** Files whose stored messages are remembered; of others all are sent again when they change, and not stored again. */
const REMEMBERED_MAX = 100
const RETRY = { firstMs: 2_000, maxMs: 60_000 }

export type FollowEvent =
  | { readonly event: 'imported'; readonly file: string; readonly sent: SentThread }
  /** Another session took the place of the earlier one. */
  | { readonly event: 'replaced'; readonly file: string; readonly thread: string }
  /** The file has no message yet. */
  | { readonly event: 'waiting'; readonly file: string; readonly reason: string }
  /** The store or the gateway is away: the file is read again, after a pause that grows. */
  | { readonly event: 'retrying'; readonly file: string; readonly reason: string }
  | ({ readonly event: 'failed' } & FailedImport)

export interface FollowOptions {
  readonly find: () => Promise<readonly FoundFile[]>
  readonly importFile: (path: string, known: KnownSession) => Promise<ImportedSession | null>
  readonly clock: Pick<Clock, 'nowMs'>
}

interface Followed {
  path: string
  stamp: FileStamp
  readonly known: KnownSession
  /** Null while there is nothing to read. */
  pending: { firstMs: number; lastMs: number } | null
  retry: { attempt: number; atMs: number } | null
  /** The reason that was reported last, so that it is reported once. */
  reported: string | null
}

/** Follows sessions that agents write, pass by pass; all of its state is what it saw in earlier passes. */
export class FolderFollower {
  readonly #options: FollowOptions
  #files = new Map<string, Followed>()

  constructor(options: FollowOptions) {
    this.#options = options
  }

  get files(): number {
    return this.#files.size
  }

  /** Reads the files that have changed and are due. */
  async *pass(): AsyncGenerator<FollowEvent> {
    this.#notice(await this.#options.find())
    for (const file of this.#files.values()) {
      if (!this.#isDue(file)) continue
      yield* this.#read(file)
      this.#forgetOthers(file)
    }
  }

  #notice(found: readonly FoundFile[]): void {
    const nowMs = this.#options.clock.nowMs()
    const present = new Set(found.map(({ path }) => path))
    const moved = new Map([...this.#files.values()].filter(({ path }) => !present.has(path)).map(byInode))
    const beforeOf = ({ path, stamp }: FoundFile) => this.#files.get(path) ?? moved.get(stamp.inode)
    const files = new Map<string, Followed>()
    // Those that were followed before stay first, in their order: they keep the names of their threads.
    const places = new Map([...this.#files.values()].map((file, place) => [file, place]))
    const placeOf = (one: FoundFile) => {
      const before = beforeOf(one)
      return (before && places.get(before)) ?? places.size
    }
    for (const one of [...found].sort((left, right) => placeOf(left) - placeOf(right))) {
      const { path, stamp } = one
      const before = beforeOf(one)
      const file = before ?? newFile(path, stamp, Math.min(nowMs, stamp.modifiedMs))
      file.path = path
      if (!isSame(file.stamp, stamp)) {
        file.stamp = stamp
        file.pending = { firstMs: file.pending?.firstMs ?? nowMs, lastMs: nowMs }
      }
      files.set(path, file)
    }
    this.#files = files
  }

  #isDue({ pending, retry }: Followed): boolean {
    if (pending === null) return false
    const nowMs = this.#options.clock.nowMs()
    if (retry !== null && nowMs < retry.atMs) return false
    return nowMs - pending.lastMs >= QUIET_MS || nowMs - pending.firstMs >= LATEST_MS
  }

  async *#read(file: Followed): AsyncGenerator<FollowEvent> {
    const { path, known } = file
    try {
      this.#refuseSameName(file)
      const imported = await this.#options.importFile(path, known)
      if (imported?.isReplaced === true) yield { event: 'replaced', file: path, thread: known.thread }
      for (const sent of imported?.sent ?? []) {
        if (sent.error === undefined) yield { event: 'imported', file: path, sent }
        else if (!isOfOneSession(sent.error)) throw sent.error
        else yield* this.#once(file, { event: 'failed', ...notStored(sent.planned, sent.error) })
      }
      file.pending = null
      file.retry = null
    } catch (error) {
      yield* this.#faultOf(file, error)
    }
  }

  /** Files of one name in several folders would be mixed in one thread: the oldest one has it. */
  #refuseSameName(file: Followed): void {
    for (const other of this.#files.values()) {
      if (other === file) return
      if (other.known.thread !== file.known.thread) continue
      throw new PermanentError(
        'CONFLICT',
        `file: ${other.path} and ${file.path} would both become the thread "${file.known.thread}"`,
        {
          field: 'name',
          received: file.path,
          hint: 'Rename one of them, or follow the folders with agents of their own.',
        },
      )
    }
  }

  *#faultOf(file: Followed, error: unknown): Generator<FollowEvent> {
    if (!(error instanceof HeddleError)) throw error
    const { path } = file
    if (error.disposition === 'retry') {
      const attempt = (file.retry?.attempt ?? 0) + 1
      file.retry = { attempt, atMs: this.#options.clock.nowMs() + backOffMs(attempt - 1, RETRY) }
      if (attempt === 1) yield { event: 'retrying', file: path, reason: error.message }
      return
    }
    if (!isOfOneSession(error)) throw error
    file.pending = null
    file.retry = null
    // The file as a whole, and not one of its lines: its first messages may still come.
    const { field } = error.toJSON()
    if (field === 'file' && error.code === 'VALIDATION_ERROR')
      yield* this.#once(file, { event: 'waiting', file: path, reason: error.message })
    else if (error.code !== 'NOT_FOUND') yield* this.#once(file, { event: 'failed', ...unreadable(path, error) })
  }

  *#once(file: Followed, event: FollowEvent & { event: 'failed' | 'waiting' }): Generator<FollowEvent> {
    const said = event.event === 'failed' ? event.error.detail : event.reason
    if (file.reported === said) return
    file.reported = said
    yield event
  }

  #remembered: Followed[] = []

  #forgetOthers(file: Followed): void {
    this.#remembered = [...this.#remembered.filter((other) => other !== file), file]
    if (this.#remembered.length > REMEMBERED_MAX) this.#remembered.shift()?.known.sent.clear()
  }
}

function newFile(path: string, stamp: FileStamp, changedMs: number): Followed {
  const pending = { firstMs: changedMs, lastMs: changedMs }
  return { path, stamp, known: newSession(path), pending, retry: null, reported: null }
}

const byInode = (file: Followed): [string, Followed] => [file.stamp.inode, file]

function isSame(before: FileStamp, now: FileStamp): boolean {
  return before.size === now.size && before.modifiedMs === now.modifiedMs && before.inode === now.inode
}
