import { basename, extname, resolve } from 'node:path'
import { HeddleError, type MessageInput, nameSchema, PermanentError } from '@heddle/contracts'
import { importedMessageId, projectIdOf, threadIdOf } from '@heddle/core'
import { EventLoopYielder } from '@heddle/runtime'
import { type ParsedMessage, readSession, type Session, type SessionFormat } from '@heddle/sessions'
import { UsageError } from '../output/failure.js'
import { isOfOneFile } from './failed.js'
import { fileError } from './read-file.js'
import { openSessionBytes, type SessionBytes } from './session-bytes.js'

/** A file that was read and checked: its threads, and a second pass over its messages. */
export interface PlannedFile {
  readonly file: string
  readonly bytes: number
  readonly threads: readonly ThreadPlan[]
  /** Reads the file again from its beginning; messages of one thread keep their order. */
  messages(): Iterable<ImportedMessage>
  /** Closes the file until the next read. */
  close(): void
}

/** A thread to send. */
export interface ThreadPlan {
  readonly thread: string
  readonly file: string
  readonly format: SessionFormat
  readonly messages: number
  readonly toolCalls: number
  readonly toolResults: number
  /** Number of records that are no messages, by kind. */
  readonly skipped: Readonly<Record<string, number>>
}

export interface ImportedMessage {
  readonly thread: ThreadPlan
  readonly message: MessageInput
}

/** All files of an import. */
export interface Plan {
  readonly files: readonly PlannedFile[]
  /** Removes temporary copies. */
  remove(): Promise<void>
}

export interface PlanOptions {
  readonly cwd: string
  readonly project: string
  readonly format: SessionFormat | 'auto'
  /** The name of the thread; default that of the file, without folders and extension. */
  readonly thread?: string
  /** Called for each unreadable file; with it, such a file does not stop the others. */
  readonly onUnreadable?: (file: string, error: unknown) => void
  /** Called with the number of files read so far. */
  readonly onRead?: (files: number) => void
  readonly signal?: AbortSignal
  /** Opens a file by its absolute path. Default: all of its bytes. */
  readonly open?: (path: string) => Promise<SessionBytes>
}

/**
 * Reads and checks all files before anything is sent.
 *
 * @throws UsageError if two files would become one thread
 * @throws PermanentError that names the file and the place in it, without `onUnreadable`
 */
export async function planFiles(files: readonly string[], options: PlanOptions): Promise<Plan> {
  if (options.thread !== undefined && files.length > 1) {
    throw new UsageError(
      'thread',
      'names one thread, but there are several files',
      `${files.length} files`,
      'Omit --thread, so that each thread is named after its file; or import the files one by one.',
    )
  }
  const planned: PlannedFile[] = []
  const opened: SessionBytes[] = []
  const remove = async () => void (await Promise.all(opened.map((bytes) => bytes.remove())))
  try {
    for (const [index, file] of files.entries()) {
      try {
        const bytes = await (options.open ?? openSessionBytes)(resolve(options.cwd, file))
        opened.push(bytes)
        planned.push(await planFile(file, bytes, options))
      } catch (error) {
        if (options.onUnreadable === undefined || !isOfOneFile(error)) throw error
        options.onUnreadable(file, error)
      }
      options.onRead?.(index + 1)
    }
    rejectSameNames(planned.flatMap(({ threads }) => threads))
  } catch (error) {
    await remove()
    throw error
  }
  return { files: planned, remove }
}

async function planFile(file: string, bytes: SessionBytes, options: PlanOptions): Promise<PlannedFile> {
  const { format, skipped, threads, messages } = await readThrough(bytes, file, options)
  const base = options.thread ?? basename(file, extname(file))
  const projectId = projectIdOf(options.project)
  const planned = new Map<number, ThreadPlan>()
  for (const { number, suffix, ...counts } of threads) {
    const thread = checkedName(suffix === null ? base : `${base}-${suffix}`, file)
    planned.set(number, { thread, file, format, skipped, ...counts })
  }
  return {
    file,
    bytes: bytes.size,
    threads: [...planned.values()],
    *messages() {
      for (const { thread: number, message } of faultsIn(bytes.path, messages(), '')) {
        const thread = planned.get(number)
        if (thread !== undefined) yield { thread, message: withId(message, threadIdOf(projectId, thread.thread)) }
      }
    },
    close: () => bytes.close(),
  }
}

/** Yields to the event loop now and then: a long file takes seconds. */
async function readThrough(bytes: SessionBytes, file: string, { format, signal }: PlanOptions): Promise<Session> {
  const turns = new EventLoopYielder()
  const look = faultsIn(bytes.path, readSession(bytes, { fileName: basename(file), format }), 'Nothing was stored.')
  try {
    for (let looked = look.next(); ; looked = look.next()) {
      if (looked.done === true) return looked.value
      const turn = turns.next()
      if (turn === null) continue
      await turn
      signal?.throwIfAborted()
    }
  } finally {
    bytes.close()
  }
}

/** Adds the file and a hint to errors. */
function* faultsIn<Item, Result>(
  path: string,
  items: Generator<Item, Result>,
  isStored: 'Nothing was stored.' | '',
): Generator<Item, Result> {
  try {
    return yield* items
  } catch (error) {
    if (!(error instanceof HeddleError)) throw fileError(path, error)
    const { code, detail, hint = 'Correct the file, or choose another with --format.', ...details } = error.toJSON()
    throw new PermanentError(code, detail, { ...details, hint: `${hint} ${isStored}`.trimEnd(), cause: error })
  }
}

/** An id that is the same each time the file is read, so that importing again stores no duplicates. */
function withId({ id, identity, input }: ParsedMessage, threadId: string): MessageInput {
  return { ...input, id: id ?? importedMessageId(threadId, identity) }
}

function checkedName(name: string, file: string): string {
  const result = nameSchema.safeParse(name)
  if (result.success) return result.data
  throw new UsageError(
    'thread',
    `the name of ${file} is not a valid thread name: ${result.error.issues[0]?.message ?? 'is not valid'}`,
    undefined,
    'Name the thread with --thread.',
  )
}

function rejectSameNames(planned: readonly ThreadPlan[]): void {
  const fileOf = new Map<string, string>()
  for (const { thread, file } of planned) {
    const other = fileOf.get(thread)
    if (other !== undefined) {
      throw new UsageError(
        'file',
        `${other} and ${file} would both become the thread "${thread}"`,
        undefined,
        'Import them one by one, each with its own --thread.',
      )
    }
    fileOf.set(thread, file)
  }
}
