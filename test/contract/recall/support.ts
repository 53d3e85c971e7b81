import type { Client } from '@heddle/client/interface'
import { messageReference, projectIdOf, threadIdOf } from '@heddle/core'
import { createClient } from '@heddle/engine'
import type { Clock } from '@heddle/runtime'
import { type Append, archiveEntries, loadMessage, type NewArchiveEntry, type PreparedMessage } from '@heddle/store'
import { append, appendOne, prepared, RECEIVED_AT_MS, type TestStore } from '../store/support.js'

export const PROJECT_NAME = 'recall tests'

/** A client for operations that need a store and no queue. */
export function clientOn({ store }: Pick<TestStore, 'store'>, project = PROJECT_NAME, clock?: Clock): Client {
  return createClient({ store, queues: null, project, ...(clock && { clock }) })
}

export interface Archived {
  readonly threadId: string
  readonly messageId: string
  readonly code: string
  /** `msg-xxxxxxxx`. */
  readonly ref: string
}

/** Stores a message in a thread and archives its content, as a compaction does. */
export async function archive(
  database: TestStore,
  content: string,
  where: {
    project?: string
    agent?: string
    thread?: string
    message?: PreparedMessage
    entry?: Partial<NewArchiveEntry>
  } = {},
): Promise<Archived> {
  const { project = PROJECT_NAME, thread = 'cloth', message = prepared({ content: content.slice(0, 100) }) } = where
  const projectId = projectIdOf(project)
  const threadId = threadIdOf(projectId, thread)
  const fields: Partial<Append> = { thread, ...(where.agent !== undefined && { agent: where.agent }) }
  await appendOne(database.store, append([message], fields), projectId)
  const messageId = message.input.id
  const stored = await database.store.inProject(projectId, async (tx) => {
    await archiveEntries(tx, [
      {
        threadId,
        messageId,
        contentType: 'file_view',
        summary: '3 lines: alpha',
        content,
        filePaths: ['src/a.ts'],
        toolName: 'Read',
        tokenCount: 12,
        originalCreatedAtMs: message.orderedAtMs ?? RECEIVED_AT_MS,
        ...where.entry,
      },
    ])
    return await loadMessage(tx, { threadId, id: messageId })
  })
  const code = stored?.code ?? ''
  return { threadId, messageId, code, ref: messageReference(code) }
}
