import type { BlockKey } from '@heddle/contracts'
import type { ToolDeps } from './tool-deps.js'

/**
 * Separates the block that a call names from its change. A model knows its block by scope and label: the owner is by default the
 * thread that the client named last, or the agent of that thread.
 */
export async function blockIn<Change extends object>(
  { scope, owner, label, ...change }: BlockKey & Change,
  { client, session: { thread } }: Pick<ToolDeps, 'client' | 'session'>,
): Promise<{ readonly key: BlockKey; readonly change: Omit<Change, keyof BlockKey> }> {
  const key = (name: string | undefined) => ({
    key: { scope, label, owner: name },
    change: change as Omit<Change, keyof BlockKey>,
  })
  if (owner !== undefined || scope === 'project' || thread === undefined) return key(owner)
  return key(scope === 'thread' ? thread : (await client.threads.get(thread)).agent)
}
