import { type StageName, stageNames } from '@heddle/contracts'
import { identifyProcess } from '@heddle/embedded'
import { listApplications, type Store } from '@heddle/store'

/*
 * Processes publish the stages that they serve in the `application_name` of their connections to the store. The server drops a
 * name with its connection, so no name remains of a killed process. Names hold 63 characters, hence one letter per stage.
 */
const LETTERS: Readonly<Record<StageName, string>> = {
  ingest: 'i',
  prune: 'p',
  summarize: 's',
  embed: 'e',
  remember: 'r',
  assemble: 'a',
}

/** `heddle/<prefix>/<pid>/ipsera`: this process and the stages that it serves. */
export function applicationNameOf(process: { queuePrefix: string; pid: number; stages: readonly StageName[] }): string {
  return `heddle/${process.queuePrefix}/${process.pid}/${process.stages.map((stage) => LETTERS[stage]).join('')}`
}

/** `heddle/<prefix>/<pid>/` for threads of that process, which fetch no jobs from queues. */
export function threadNameOf(applicationName: string): string {
  return applicationName.slice(0, applicationName.lastIndexOf('/') + 1)
}

export function stagesServedBy(applicationName: string): StageName[] {
  const letters = applicationName.split('/')[3] ?? ''
  return stageNames.filter((stage) => letters.includes(LETTERS[stage]))
}

/** The stages of a prefix that any process serves now. */
export async function servedStages(store: Store, queuePrefix: string): Promise<ReadonlySet<StageName>> {
  return new Set((await serversOf(store, queuePrefix)).flatMap(stagesServedBy))
}

/**
 * The stages that other running processes serve. On a busy machine the server lists the connections of a process for a moment
 * after it has ended, so local processes are checked by their pid.
 *
 * @param isLocal whether the server's clients run on this machine
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
