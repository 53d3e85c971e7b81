import type { hookOperations } from '@heddle/contracts'
import type { Handlers } from '../http/handler.js'

/** Events of agents, answered in the form of their hooks. */
export const hookHandlers: Handlers<typeof hookOperations> = {
  claudeCodeHook: ({ client, query, body }) => client.hooks.claudeCode(body, query),
  codexHook: ({ client, query, body }) => client.hooks.codex(body, query),
  openCodeHook: ({ client, query, body }) => client.hooks.openCode(body, query),
}
