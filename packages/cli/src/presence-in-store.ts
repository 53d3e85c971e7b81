import { type StageName, stageNames } from '@heddle/contracts'
import { systemClock } from '@heddle/runtime'
import { listApplications, type Store } from '@heddle/store'
import type { CommandContext } from './context.js'

/*
 * Which processes serve which stages is told by the names of their connections to the store: the server forgets a process
 * when its connections end, so no name outlives a process that was killed. Names hold 63 characters, hence the letters.
 */
const LETTERS: Readonly<Record<StageName, string>> = {
  ingest: 'i',
  prune: 'p',
  summarize: 's',
  embed: 'e',
  assemble: 'a',
}

/** `heddle/<prefix>/<pid>/ipsea`: this process and the stages that it serves. */
export function applicationNameOf(process: { queuePrefix: string; pid: number; stages: readonly StageName[] }): string {
  return `heddle/${process.queuePrefix}/${process.pid}/${process.stages.map((stage) => LETTERS[stage]).join('')}`
}

export function stagesServedBy(applicationName: string): StageName[] {
  const letters = applicationName.split('/')[3] ?? ''
  return stageNames.filter((stage) => letters.includes(LETTERS[stage]))
}

/** The stages that some process serves now, for the queues of a prefix. */
export async function servedStages(store: Store, queuePrefix: string): Promise<ReadonlySet<StageName>> {
  const names = await listApplications(store, { prefix: `heddle/${queuePrefix}/` })
  return new Set(names.flatMap(stagesServedBy))
}

/** Another command in the same folder uses the server that this one has started; it may need this long at most. */
const WAIT_MS_MAX = 60_000
const LOOK_EVERY_MS = 250

/**
 * Waits, before the embedded server is stopped, until no other command uses it: whoever came second in a folder has joined
 * the server of whoever came first. A command that was asked to stop does not wait.
 */
export async function waitForOthers(options: {
  store: Store
  queuePrefix: string
  context: CommandContext
}): Promise<void> {
  const { store, queuePrefix, context } = options
  for (let waitedMs = 0; waitedMs < WAIT_MS_MAX && !context.signal.aborted; waitedMs += LOOK_EVERY_MS) {
    const names = await listApplications(store, { prefix: `heddle/${queuePrefix}/` })
    const others = names.filter((name) => !name.startsWith(`heddle/${queuePrefix}/${process.pid}/`))
    if (others.length === 0) return
    if (waitedMs === 0) {
      const pids = [...new Set(others.map((name) => name.split('/')[2]))].join(', ')
      context.printer.note(`done; waiting for process ${pids}, which uses the same server`)
    }
    await systemClock.wait(LOOK_EVERY_MS, context.signal).catch(() => undefined)
  }
}
