import type { Page, PageOptions, ThreadProcess } from '@heddle/client/interface'
import { nameSchema, notFound, type ProcessBody, parse, processBodySchema, validationError } from '@heddle/contracts'
import { threadIdOf } from '@heddle/core'
import { listProcesses, loadProcess, loadThread, type ProcessRow, putProcess } from '@heddle/store'
import { type CursorList, NAME_PLACE, pageOf, placeAt } from '../setup/cursors.js'
import { isoTime } from '../setup/iso-time.js'
import { checkPageLimit, type EngineContext } from '../setup/options.js'

/**
 * Sets the status of a process of a thread. While it runs, every context of the agent shows it. Each change is a new version,
 * an unchanged body is not; a process that has ended runs again with the next status.
 *
 * @throws PermanentError `NOT_FOUND` without the thread, `VALIDATION_ERROR`
 */
export async function setProcess(
  { store, projectId }: EngineContext,
  thread: string,
  name: string,
  body: ProcessBody,
): Promise<ThreadProcess> {
  const threadId = threadIdOf(projectId, parse(nameSchema, thread, 'thread'))
  const process = parse(nameSchema, name, 'process')
  const { status, ended } = parse(processBodySchema, body, 'process')
  const put = await store.inProject(projectId, (tx) => putProcess(tx, { threadId, name: process, status, ended }))
  if ('process' in put) return toProcess(put.process)
  if (put.missing === 'thread') throw notFound('thread', thread, 'create it with `heddle threads set`')
  if (ended) throw notFound('process', process, `see \`heddle threads processes "${thread}"\``)
  throw validationError('status', 'is required to start a process', undefined)
}

/** @throws PermanentError `NOT_FOUND` without the thread or the process */
export async function getProcess(
  { store, projectId }: EngineContext,
  thread: string,
  name: string,
): Promise<ThreadProcess> {
  const threadId = threadIdOf(projectId, parse(nameSchema, thread, 'thread'))
  const process = parse(nameSchema, name, 'process')
  const [found, row] = await store.inProject(projectId, (tx) =>
    Promise.all([loadThread(tx, { threadId }), loadProcess(tx, { threadId, name: process })]),
  )
  if (!found) throw notFound('thread', thread, 'see `heddle threads list`')
  if (!row) throw notFound('process', process, `see \`heddle threads processes "${thread}"\``)
  return toProcess(row)
}

/** @throws PermanentError `NOT_FOUND` */
export async function listThreadProcesses(
  { store, projectId }: EngineContext,
  thread: string,
  { limit = 100, ...page }: PageOptions = {},
): Promise<Page<ThreadProcess>> {
  checkPageLimit(limit)
  const threadId = threadIdOf(projectId, parse(nameSchema, thread, 'thread'))
  const list: CursorList = { kind: 'processes', ownerId: threadId }
  const [afterName] = placeAt(list, page, NAME_PLACE) ?? []
  const [found, processes] = await store.inProject(projectId, (tx) =>
    Promise.all([loadThread(tx, { threadId }), listProcesses(tx, { threadId, limit, afterName })]),
  )
  if (!found) throw notFound('thread', thread, 'see `heddle threads list`')
  return pageOf(processes.map(toProcess), { list, limit })
}

function toProcess({ name, version, status, endedAtMs, updatedAtMs }: ProcessRow): ThreadProcess {
  return {
    name,
    version,
    status,
    isRunning: endedAtMs === null,
    endedAt: isoTime(endedAtMs),
    updatedAt: isoTime(updatedAtMs),
  }
}
