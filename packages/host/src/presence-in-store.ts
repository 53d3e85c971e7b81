import { type StageName, stageNames } from '@heddle/contracts'
import { listApplications, type Store } from '@heddle/store'

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

/** `heddle/<prefix>/<pid>/` for threads of that process, which take no jobs from queues by themselves. */
export function threadNameOf(applicationName: string): string {
  return applicationName.slice(0, applicationName.lastIndexOf('/') + 1)
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
