import { basename, extname } from 'node:path'
import type { MessageInput } from '@heddle/contracts'
import { messageFingerprint } from '@heddle/core'
import { EventLoopYielder } from '@heddle/runtime'
import type { SessionFormat } from '@heddle/sessions'
import type { Destination } from '../destination.js'
import { type PlannedFile, planFiles, type ThreadPlan } from '../plan.js'
import { type SentThread, sendFile } from '../send-file.js'
import { headOf, openWholeLines } from './whole-lines.js'

export interface SessionImport {
  readonly destination: Destination
  readonly project: string
  readonly agent: string
  readonly newAgentRollingWindow: number | null
  readonly format: SessionFormat | 'auto'
  readonly signal: AbortSignal
  /** Called with the messages of the file that are stored so far, and those that are to be stored. */
  readonly onProgress?: (stored: number, total: number) => void
}

/** The memory of earlier reads of a followed file. */
export interface KnownSession {
  /** Identifies its first line; null before the file was read. */
  head: string | null
  /** The name of the file when it was read last. */
  base: string
  thread: string
  /** By thread and id the contents of the messages that are stored. Empty if it was forgotten: they are then sent again. */
  readonly sent: Map<string, string>
}

export function newSession(path: string): KnownSession {
  return { head: null, base: baseOf(path), thread: baseOf(path), sent: new Map() }
}

const baseOf = (path: string) => basename(path, extname(path))

export interface ImportedSession {
  /** Whether another session took the place of the earlier one in the file. */
  readonly isReplaced: boolean
  /** Threads that had new messages. */
  readonly sent: readonly SentThread[]
}

/**
 * Sends the messages of a session that are not stored yet, up to its last whole line. Ids depend on the file alone, so messages
 * that are sent again, as after a restart, are not stored again.
 *
 * Another session in the same file, as after a rotation, becomes a thread of its own, named after its first line: after a restart
 * it is recognized by the messages of the earlier one, which it contradicts.
 *
 * @returns null if the file has no whole line yet
 * @throws PermanentError that names the file and the place in it
 */
export async function importSession(
  path: string,
  known: KnownSession,
  options: SessionImport,
): Promise<ImportedSession | null> {
  const head = await readHead(path)
  if (head === null) return null
  const base = baseOf(path)
  const ownThread = `${base}-${head}`
  const isSame = known.head === head
  const isOther = known.head !== null && !isSame
  // A new file can have the inode of a removed one: then nothing of its name was read before.
  const isReplaced = isOther && known.base === base
  if (isOther) {
    known.thread = isReplaced ? ownThread : base
    known.sent.clear()
  } else if (!isSame && (await options.destination.holds(ownThread))) {
    // A run before this one saw that the session took the place of another one.
    known.thread = ownThread
  }
  known.head = head
  known.base = base
  const sent = await sendNew(path, known, options)
  // The same session with other contents, as one that is written anew: it is reported, and no copy of it is made.
  if (isSame || known.thread === ownThread || !sent.some(isConflict)) return { isReplaced, sent }
  known.thread = ownThread
  known.sent.clear()
  return { isReplaced: true, sent: await sendNew(path, known, options) }
}

async function readHead(path: string): Promise<string | null> {
  const bytes = await openWholeLines(path)
  try {
    return bytes.size === 0 ? null : headOf(bytes)
  } finally {
    await bytes.remove()
  }
}

const isConflict = ({ error }: SentThread) => error instanceof Error && 'code' in error && error.code === 'CONFLICT'

async function sendNew(path: string, known: KnownSession, options: SessionImport): Promise<SentThread[]> {
  const { destination, agent, newAgentRollingWindow, format, project, signal } = options
  const plan = await planFiles([path], {
    cwd: '/',
    project,
    format,
    thread: known.thread,
    signal,
    open: openWholeLines,
  })
  try {
    const [file] = plan.files
    const unsent = file === undefined ? null : await unsentOf(file, known.sent)
    if (unsent === null) return []
    const total = unsent.file.threads.reduce((sum, { messages }) => sum + messages, 0)
    const sent = await sendFile(destination, unsent.file, {
      agent,
      newAgentRollingWindow,
      signal,
      slot: async () => () => {},
      onProgress: (stored) => options.onProgress?.(stored, total),
    })
    for (const { planned, error } of sent) {
      if (error !== undefined) continue
      for (const [key, fingerprint] of unsent.fingerprints.get(planned.thread) ?? []) known.sent.set(key, fingerprint)
    }
    return sent
  } finally {
    await plan.remove()
  }
}

interface Unsent {
  readonly file: PlannedFile
  /** By thread, what is stored once they are sent. */
  readonly fingerprints: ReadonlyMap<string, ReadonlyMap<string, string>>
}

/** The file without the messages that are stored as they are; null if nothing is left of it. */
async function unsentOf(file: PlannedFile, sent: ReadonlyMap<string, string>): Promise<Unsent | null> {
  const pauses = new EventLoopYielder()
  const counts = new Map<ThreadPlan, { -readonly [Key in keyof ThreadPlan]: ThreadPlan[Key] }>()
  const fingerprints = new Map<string, Map<string, string>>()
  for (const { thread, message } of file.messages()) {
    const pause = pauses.next()
    if (pause !== null) await pause
    const key = keyOf(thread, message)
    const fingerprint = messageFingerprint(message)
    if (sent.get(key) === fingerprint) continue
    const counted = counts.get(thread) ?? { ...thread, messages: 0 }
    counted.messages++
    counts.set(thread, counted)
    fingerprints.set(thread.thread, (fingerprints.get(thread.thread) ?? new Map()).set(key, fingerprint))
  }
  file.close()
  if (counts.size === 0) return null
  return {
    fingerprints,
    file: {
      ...file,
      threads: [...counts.values()],
      *messages() {
        for (const { thread, message } of file.messages()) {
          const counted = counts.get(thread)
          if (counted !== undefined && fingerprints.get(thread.thread)?.has(keyOf(thread, message)) === true)
            yield { thread: counted, message }
        }
      },
    },
  }
}

const keyOf = ({ thread }: ThreadPlan, { id }: MessageInput) => `${thread} ${id}`
