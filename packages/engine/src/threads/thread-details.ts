import type { ThreadBody } from '@heddle/client/interface'
import { nameSchema, parse, type ThreadEntry, threadBodySchema } from '@heddle/contracts'
import { putThread } from '@heddle/store'
import type { EngineContext } from '../setup/options.js'

/**
 * Creates a thread, or sets its title, goal and status; omitted fields stay unchanged, and null removes a value. Each change is
 * a new version, an unchanged body is not.
 *
 * @throws ConflictError if the thread belongs to another agent
 * @throws PermanentError `VALIDATION_ERROR`
 */
export async function setThread(
  { store, project, projectId }: EngineContext,
  name: string,
  body: ThreadBody,
): Promise<ThreadEntry> {
  const thread = parse(nameSchema, name, 'thread')
  const checked = parse(threadBodySchema, body, 'thread')
  const details = await store.inProject(projectId, (tx) =>
    putThread(tx, { ...checked, thread, projectId, projectName: project }),
  )
  return { ...details, agent: checked.agent }
}
