import { resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { systemClock } from '@heddle/runtime'
import type { CommandContext } from '../connect/context.js'
import { configOf } from '../connect/context.js'
import { refusePaused } from '../connect/paused.js'
import { withEngine } from '../connect/with-engine.js'
import { remoteClientOf } from '../connect/with-remote.js'
import type { Destination } from '../importing/destination.js'
import { eventJson, eventLine, FollowTotals } from '../importing/watch/event-lines.js'
import { checkFolder, findSessions } from '../importing/watch/find-sessions.js'
import { FolderFollower } from '../importing/watch/follow-folder.js'
import { importSession, type KnownSession } from '../importing/watch/import-session.js'
import type { ImportOptions } from '../options/import-options.js'
import { exitCodes, UsageError } from '../output/failure.js'
import { formatCount } from '../output/table.js'

/** Between two passes over the folders: a pass compares sizes and times, some 10 µs a file. */
const PASS_EVERY_MS = 1_000

/** Follows folders of sessions until the command is interrupted, which is its regular end. */
export async function followFolders(
  context: CommandContext,
  folders: readonly string[],
  options: ImportOptions,
): Promise<void> {
  if (options.thread !== undefined)
    throw new UsageError(
      'thread',
      'names one thread, but a folder has many sessions',
      options.thread,
      'Omit --thread: each thread has the name of its file.',
    )
  const paths = folders.map((folder) => resolve(context.cwd, folder))
  for (const path of paths) await checkFolder(path)
  const totals = new FollowTotals()
  try {
    await follow(context, paths, options, totals)
  } catch (error) {
    if (!context.signal.aborted) throw error
  }
  const { threads, stored, grown, failed } = totals
  if (failed > 0) context.setExitCode(exitCodes.error)
  context.printer.result(
    { at: new Date(systemClock.nowMs()).toISOString(), event: 'stopped', threads, stored, grown, failed },
    () => [
      `stopped: ${formatCount(stored)} messages stored in ${formatCount(threads)} threads; started again, the command goes on from here`,
    ],
  )
}

async function follow(
  context: CommandContext,
  folders: readonly string[],
  options: ImportOptions,
  totals: FollowTotals,
): Promise<void> {
  const { projectIdOf } = await import('@heddle/core')
  const { gatewayDestination, storeDestination } = await import('../importing/destination.js')
  const { project } = configOf(context, options)
  const print = (destination: Destination) =>
    context.printer.stream(lines(context, folders, { ...options, destination, project }, totals))
  const remote = await remoteClientOf(context, options)
  if (remote !== null) return await print(gatewayDestination(remote, projectIdOf(project)))
  const stages = ['ingest', 'prune', 'summarize', 'embed', 'remember'] as const
  await withEngine(context, options, { stages }, async (engine) => {
    await refusePaused(engine, 'ingest')
    await print(storeDestination(engine))
  })
}

async function* lines(
  { printer, signal }: CommandContext,
  folders: readonly string[],
  { destination, project, ...options }: ImportOptions & { destination: Destination; project: string },
  totals: FollowTotals,
): AsyncGenerator<string> {
  const importing = {
    destination,
    project,
    agent: options.agent,
    newAgentRollingWindow: typeof options.rollingWindow === 'number' ? options.rollingWindow : null,
    format: options.format,
    signal,
  }
  const importFile = async (path: string, known: KnownSession) => {
    const progress = printer.progress('messages stored', 0, { rate: true })
    try {
      return await importSession(path, known, {
        ...importing,
        onProgress: (stored, total) => progress.update(stored, total),
      })
    } finally {
      progress.stop()
    }
  }
  const follower = new FolderFollower({ find: () => findSessions(folders), importFile, clock: systemClock })
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    for await (const event of follower.pass()) {
      totals.add(event)
      const atMs = systemClock.nowMs()
      yield `${printer.json ? eventJson(event, atMs) : eventLine(event, atMs)}\n`
    }
    if (isFirst) yield caughtUp(follower.files, totals, printer.json)
    await pause(PASS_EVERY_MS, undefined, { signal }).catch(() => undefined)
  }
}

function caughtUp(files: number, { threads, stored }: FollowTotals, json: boolean): string {
  if (json)
    return `${JSON.stringify({ at: new Date(systemClock.nowMs()).toISOString(), event: 'caughtUp', files, threads, stored })}\n`
  return `following ${formatCount(files)} sessions: ${formatCount(stored)} new messages so far; Ctrl-C stops it\n`
}
