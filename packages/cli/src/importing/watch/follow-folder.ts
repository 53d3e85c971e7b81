import { sep } from 'node:path'
import { HeddleError, PermanentError } from '@heddle/contracts'
import { backOffMs, type Clock } from '@heddle/runtime'
import { type FailedImport, isOfOneSession, notStored, unreadable } from '../failed.js'
import type { SentThread } from '../send-file.js'
import type { FileStamp, FoundFile, FoundSessions, UnreadableFolder } from './find-sessions.js'
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
  readonly find: () => Promise<FoundSessions>
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
  /** Folders that could not be read in the last pass, with the reason that was reported. */
  #unreadable = new Map<string, string>()

  constructor(options: FollowOptions) {
    this.#options = options
  }

  get files(): number {
    return this.#files.size
  }

  /** Reads the files that have changed and are due. */
  async *pass(): AsyncGenerator<FollowEvent> {
    const found = await this.#options.find()
    yield* this.#reportUnreadable(found.unreadable)
    this.#notice(found.files)
    for (const file of this.#files.values()) {
      if (!this.#isDue(file) || this.#isHidden(file)) continue
      yield* this.#read(file)
      this.#forgetOthers(file)
    }
  }

  /** A folder is reported once until it can be read again. */
  *#reportUnreadable(folders: readonly UnreadableFolder[]): Generator<FollowEvent> {
    const before = this.#unreadable
    this.#unreadable = new Map()
    for (const { path, error } of folders) {
      const failed = unreadable(path, error)
      this.#unreadable.set(path, failed.error.detail)
      if (before.get(path) !== failed.error.detail) yield { event: 'failed', ...failed }
    }
  }

  #isHidden({ path }: Followed): boolean {
    return [...this.#unreadable.keys()].some((folder) => path.startsWith(`${folder}${sep}`))
  }

  #notice(found: readonly FoundFile[]): void {
    const nowMs = this.#options.clock.nowMs()
    const present = new Set(found.map(({ path }) => path))
    const absent = [...this.#files.values()].filter(({ path }) => !present.has(path))
    const hidden = absent.filter((file) => this.#isHidden(file))
    const moved = new Map(absent.filter((file) => !this.#isHidden(file)).map(byInode))
    // Sessions in a folder that cannot be read now go on later, in their threads.
    const files = hidden.map((file): [string, Followed] => [file.path, file])
    for (const { path, stamp } of found) {
      const file =
        this.#files.get(path) ?? moved.get(stamp.inode) ?? newFile(path, stamp, Math.min(nowMs, stamp.modifiedMs))
      file.path = path
      if (!isSame(file.stamp, stamp)) {
        file.stamp = stamp
        file.pending = { firstMs: file.pending?.firstMs ?? nowMs, lastMs: nowMs }
      }
      files.push([path, file])
    }
    // Those that were followed before stay first, in their order: they keep the names of their threads.
    const places = new Map([...this.#files.values()].map((file, place) => [file, place]))
    const placeOf = ([, file]: [string, Followed]) => places.get(file) ?? places.size
    this.#files = new Map(files.sort((left, right) => placeOf(left) - placeOf(right)))
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
