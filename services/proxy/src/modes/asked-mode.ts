import type { IncomingHttpHeaders } from 'node:http'
import { type ProxyMode, type ProxyModeSource, proxyModes } from '@heddle/contracts'
import { agentNamedIn } from '../conversation/session.js'
import type { AgentModes } from './agent-modes.js'

/** The mode that is asked for a request, and by whom. */
export interface AskedMode {
  readonly mode: ProxyMode
  readonly source: ProxyModeSource
}

export interface ModeDeps {
  readonly agentModes: AgentModes
  /** The mode of requests for which nobody else names one. */
  readonly mode: ProxyMode
}

export interface Asking {
  readonly headers: IncomingHttpHeaders
  /** Null for a caller whose project is not known. */
  readonly project: string | null
  /** That of the caller's key, if it names one. */
  readonly keyMode: ProxyMode | undefined
}

/** The mode of a request: by its header, else by its caller's key, else by its agent, else by the configuration. */
export async function askedMode({ agentModes, mode }: ModeDeps, asking: Asking): Promise<AskedMode> {
  const { headers, project, keyMode } = asking
  const named = proxyModes.find((each) => each === headers['x-heddle-mode'])
  if (named !== undefined) return { mode: named, source: 'header' }
  if (keyMode !== undefined) return { mode: keyMode, source: 'key' }
  const ofAgent = project === null ? null : await agentModes.read(project, agentNamedIn(headers))
  return ofAgent === null ? { mode, source: 'configuration' } : { mode: ofAgent, source: 'agent' }
}
