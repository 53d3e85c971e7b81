import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PermanentError } from '@heddle/contracts'
import { MESSAGES_MIN, workThroughTheDay } from './script.js'
import { createDemoSession } from './session.js'
import { createDemoTools } from './tools.js'
import { createTranscript } from './transcript.js'
import { copyWorkspace } from './workspace.js'

export interface RecordedSession {
  /** The session in Claude Code's format, one record per line: the content of `path`. */
  readonly text: string
  readonly path: string
  readonly messages: number
  readonly toolCalls: number
  /** Calls whose tool failed, for real. */
  readonly failedCalls: number
  /** Files of the scratch copy that the agent worked on. */
  readonly files: number
}

export interface RecordOptions {
  /** The code base to work on; it is copied, never changed. */
  readonly sourceDir: string
  /** An empty folder that the caller removes afterwards. */
  readonly scratchDir: string
  /** When a message was sent. Default the wall clock. */
  readonly nowMs?: () => number
  readonly signal?: AbortSignal
  readonly onMessages?: (count: number) => void
}

/**
 * Records a real session of a scripted agent: it reads, searches, edits and runs commands in a copy of a code base, and
 * what its tools gave back is what is recorded. The same files in the same folder give the same session, times aside.
 *
 * @throws PermanentError `NOT_FOUND` where the code base is too small to give a session of {@link MESSAGES_MIN} messages
 */
export async function recordSession(options: RecordOptions): Promise<RecordedSession> {
  const root = join(options.scratchDir, 'workspace')
  await mkdir(root, { recursive: true })
  const paths = await copyWorkspace(options.sourceDir, root)
  const files = paths.length
  const transcript = createTranscript({ cwd: root, nowMs: options.nowMs ?? Date.now })
  const tools = createDemoTools({ root, paths, ...(options.signal !== undefined && { signal: options.signal }) })
  const onMessages = options.onMessages
  await workThroughTheDay(
    createDemoSession({ root, paths, tools, transcript, ...(onMessages !== undefined && { onMessages }) }),
  )
  if (transcript.messages < MESSAGES_MIN) {
    throw new PermanentError(
      'NOT_FOUND',
      `${options.sourceDir} gave a session of ${transcript.messages} messages, the demo needs ${MESSAGES_MIN}`,
      { hint: 'Run the demo on a session of your own: heddle demo FILE.' },
    )
  }
  const path = join(options.scratchDir, 'demo-session.jsonl')
  const text = transcript.toJsonLines()
  await writeFile(path, text)
  const { messages, toolCalls, failedCalls } = transcript
  return { text, path, messages, toolCalls, failedCalls, files }
}
