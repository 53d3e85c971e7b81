import type { Tx } from '../connection/connection.js'
import { isOwn } from '../sql/own-project.js'

/** A model that settings or requests of a project name. */
export interface ModelInUse {
  readonly model: string
  readonly agents: number
  readonly threads: number
  /** Of the newest contexts. */
  readonly contexts: number
}

/** Contexts that are looked at, from the newest. */
const CONTEXTS_MAX = 1_000
const MODELS_MAX = 1_000

/** The models that the current settings of agents and threads name, and those of the newest requests for contexts. */
export async function listModelsInUse(tx: Tx): Promise<ModelInUse[]> {
  return await tx<ModelInUse[]>`
    select
      model, sum(agents)::integer as agents, sum(threads)::integer as threads, sum(contexts)::integer as contexts
    from (
      select configured.settings->>'model' as model, 1 as agents, 0 as threads, 0 as contexts
      from heddle.agents as agent
      join heddle.agent_versions as configured
        on configured.agent_id = agent.id and configured.version = agent.version
      where ${isOwn(tx, 'agent')}
      union all
      select described.settings->>'model', 0, 1, 0
      from heddle.threads as thread
      join heddle.thread_versions as described
        on described.thread_id = thread.id and described.version = thread.version
      where ${isOwn(tx, 'thread')}
      union all
      select newest.model, 0, 0, 1
      from (
        select request->>'model' as model from heddle.contexts as context
        where ${isOwn(tx, 'context')} and status <> 'requested'
        order by requested_at desc
        limit ${CONTEXTS_MAX}) as newest
    ) as used
    where model is not null
    group by model
    order by model
    limit ${MODELS_MAX}`
}
