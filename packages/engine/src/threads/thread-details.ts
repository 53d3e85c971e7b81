import type { ThreadBody } from '@heddle/client/interface'
import { nameSchema, parse, type ThreadEntry, threadBodySchema } from '@heddle/contracts'
import { putThread } from '@heddle/store'
import type { EngineContext } from '../setup/options.js'

/**
 * Makes a thread, or tells what it is about and how it stands; what is left out of the body stays as it is, and null takes
 * it away. Each change is a version of its own, and the same body twice is one.
 *
 * @throws ConflictError where the thread belongs to another agent
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
