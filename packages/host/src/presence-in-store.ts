import { type StageName, stageNames } from '@heddle/contracts'
import { identifyProcess } from '@heddle/embedded'
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
  return new Set((await serversOf(store, queuePrefix)).flatMap(stagesServedBy))
}

/**
 * The stages that another process serves, which lives as far as can be seen from here. On a busy machine the server shows the
 * connections of a process for some moments after it has ended: whoever took it for a worker would wait for nobody.
 *
 * @param isLocal whether the processes of the server's clients are seen from here
 */
export async function stagesServedElsewhere(
  store: Store,
  queuePrefix: string,
  { isLocal }: { isLocal: boolean },
): Promise<ReadonlySet<StageName>> {
  const names = await serversOf(store, queuePrefix)
  const living = names.filter((name) => {
    const pid = Number(name.split('/')[2])
    return pid !== process.pid && (!isLocal || identifyProcess(pid) !== null)
  })
  return new Set(living.flatMap(stagesServedBy))
}

function serversOf(store: Store, queuePrefix: string): Promise<string[]> {
  return listApplications(store, { prefix: `heddle/${queuePrefix}/` })
}
