import type { RemoteClient } from '@heddle/client/http'
import type { Rights } from '@heddle/contracts'
import type { McpSession } from './session.js'

/** Dependencies of a tool call: they give access to the caller's own project only. */
export interface ToolDeps {
  readonly client: RemoteClient
  readonly rights: Rights
  readonly signal: AbortSignal
  readonly session: McpSession
}
