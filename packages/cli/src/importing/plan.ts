import { basename, extname, resolve } from 'node:path'
import { type ParsedThread, parseSession, type SessionFormat } from '@heddle/client'
import { HeddleError, type MessageInput, nameSchema, PermanentError } from '@heddle/contracts'
import { importedMessageId, projectIdOf, threadIdOf } from '@heddle/core'
import { UsageError } from '../output/failure.js'
import { isOfOneFile } from './failed.js'
import { readSessionFile } from './read-file.js'

/** A thread as it is going to be sent. */
export interface PlannedThread {
  readonly thread: string
  readonly file: string
  readonly format: SessionFormat
  readonly messages: readonly MessageInput[]
  readonly toolCalls: number
  readonly toolResults: number
  /** Records of the file that are no messages, by what they are. */
  readonly skipped: Readonly<Record<string, number>>
}

export interface PlanOptions {
  readonly cwd: string
  readonly project: string
  readonly format: SessionFormat | 'auto'
  /** The name of the thread; default the file's own, without folders and extension. */
  readonly thread?: string
  /** Told of each file that cannot be read, which keeps no other from being imported then. */
  readonly onUnreadable?: (file: string, error: unknown) => void
  /** Told how many files have been read. */
  readonly onRead?: (files: number) => void
}

/**
 * Reads and checks all files before anything is sent.
 *
 * @throws UsageError where two of them would make one thread
 * @throws PermanentError that names the file and the place in it, where nobody wants to be told of such files
 */
export async function planImport(files: readonly string[], options: PlanOptions): Promise<PlannedThread[]> {
  if (options.thread !== undefined && files.length > 1) {
    throw new UsageError(
      'thread',
      'names one thread, but there are several files',
      `${files.length} files`,
      'Leave --thread out, so that each thread is named after its file; or import the files one by one.',
    )
  }
  const planned: PlannedThread[] = []
  for (const [index, file] of files.entries()) {
    try {
      planned.push(...(await planFile(file, options)))
    } catch (error) {
      if (options.onUnreadable === undefined || !isOfOneFile(error)) throw error
      options.onUnreadable(file, error)
    }
    options.onRead?.(index + 1)
  }
  rejectSameNames(planned)
  return planned
}

async function planFile(file: string, options: PlanOptions): Promise<PlannedThread[]> {
  const text = await readSessionFile(resolve(options.cwd, file))
  const parsed = parse(text, file, options.format)
  const base = options.thread ?? basename(file, extname(file))
  return parsed.threads.map((thread) => {
    const name = checkedName(thread.suffix === null ? base : `${base}-${thread.suffix}`, file)
    return {
      thread: name,
      file,
      format: parsed.format,
      messages: withIds(thread, name, options.project),
      toolCalls: thread.toolCalls,
      toolResults: thread.toolResults,
      skipped: parsed.skipped,
    }
  })
}

function parse(text: string, file: string, format: SessionFormat | 'auto'): ReturnType<typeof parseSession> {
  try {
    return parseSession(text, { fileName: basename(file), format })
  } catch (error) {
    if (!(error instanceof HeddleError)) throw error
    const { code, detail, hint = 'Correct the file, or choose another with --format.', ...details } = error.toJSON()
    throw new PermanentError(code, detail, { ...details, hint: `${hint} Nothing was stored.`, cause: error })
  }
}

/** Ids that are the same each time the file is read, so that importing again stores nothing twice. */
function withIds(thread: ParsedThread, name: string, project: string): MessageInput[] {
  const threadId = threadIdOf(projectIdOf(project), name)
  return thread.messages.map(({ id, identity, input }) => ({
    ...input,
    id: id ?? importedMessageId(threadId, identity),
  }))
}

function checkedName(name: string, file: string): string {
  const result = nameSchema.safeParse(name)
  if (result.success) return result.data
  throw new UsageError(
    'thread',
    `the name of ${file} makes no name for a thread: ${result.error.issues[0]?.message ?? 'is not valid'}`,
    undefined,
    'Name the thread with --thread.',
  )
}

function rejectSameNames(planned: readonly PlannedThread[]): void {
  const fileOf = new Map<string, string>()
  for (const { thread, file } of planned) {
    const other = fileOf.get(thread)
    if (other !== undefined) {
      throw new UsageError(
        'file',
        `${other} and ${file} both make the thread "${thread}"`,
        undefined,
        'Import them one by one, each with a --thread of its own.',
      )
    }
    fileOf.set(thread, file)
  }
}
