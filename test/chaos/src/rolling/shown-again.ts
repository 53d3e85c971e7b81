import type { ContextResult } from '@heddle/contracts'
import type { UserClient } from '../users/user-client.js'

/** Whether a context that is read by its id has the same bytes for its provider as when it was built. */
export async function isShownAsBuilt(client: UserClient, built: ContextResult): Promise<boolean> {
  const shown = await client.contexts.get(built.id)
  return JSON.stringify(shown.messages) === JSON.stringify(built.messages)
}
