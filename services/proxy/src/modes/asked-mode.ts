import type { IncomingHttpHeaders } from 'node:http'
import { type ProxyMode, type ProxyModeSource, proxyModes } from '@heddle/contracts'
import { agentNamedIn, threadNamedIn } from '../conversation/session.js'
import type { SettingsModes } from './settings-modes.js'

/** The mode that is asked for a request, and by whom. */
export interface AskedMode {
  readonly mode: ProxyMode
  readonly source: ProxyModeSource
}

export interface ModeDeps {
  readonly settingsModes: SettingsModes
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

/** The mode of a request: by its header, else by its caller's key, by its thread, by its agent, or by the configuration. */
export async function askedMode({ settingsModes, mode }: ModeDeps, asking: Asking): Promise<AskedMode> {
  const { headers, project, keyMode } = asking
  const named = proxyModes.find((each) => each === headers['x-heddle-mode'])
  if (named !== undefined) return { mode: named, source: 'header' }
  if (keyMode !== undefined) return { mode: keyMode, source: 'key' }
  const byName = { agent: agentNamedIn(headers), thread: threadNamedIn(headers) }
  const set = project === null ? null : await settingsModes.read(project, byName)
  return set ?? { mode, source: 'configuration' }
}
