import type { ContextRequest, PartialSettings, Settings } from '@heddle/contracts'
import { estimateTokens, type Message, messageReference, referenceIn } from '@heddle/core'
import type { WorkSize } from '@heddle/queue'
import type { ThreadRow } from '@heddle/store'
import type { TokenCounter } from '../memory/token-counter.js'
import { laneOverrides } from './asked-lane.js'
import { scopeOf } from './scope.js'

export interface LoadDeps {
  readonly projectId: string
  /** The point in time that the context shows, in milliseconds since 1970. */
  readonly asOfMs: number
  readonly counter: TokenCounter
  readonly settings: PartialSettings
  /** Largest input read in this process. Default: unlimited. */
  readonly sizeMax?: WorkSize | undefined
}

/** The input that all strategies share. */
export function describe(thread: ThreadRow, settings: Settings, request: ContextRequest, deps: LoadDeps) {
  const { counter, asOfMs } = deps
  const counterName = request.counter ?? 'o200k'
  return {
    agent: {
      name: thread.agentName,
      version: thread.agentVersion,
      systemPrompt: thread.systemPrompt,
      docs: thread.docs,
    },
    thread,
    request,
    settings,
    format: request.format ?? settings.format ?? 'neutral',
    counter: counterName,
    count: counterName === 'o200k' ? counter.count : estimateTokens,
    headSeq: thread.headSeq,
    clearEpoch: thread.clearEpoch,
    reference: ({ code }: Pick<Message, 'code'>) =>
      request.references === 'full' ? referenceIn(thread.name, code) : messageReference(code),
    ...(request.scope !== undefined && { scope: scopeOf(request, asOfMs) }),
  } as const
}

export function overrides(request: ContextRequest): PartialSettings {
  return {
    ...windowOverride(request),
    ...laneOverrides(request),
    ...(request.iterations !== undefined && { iterations: request.iterations }),
  }
}

export function windowOverride({ rollingWindow }: ContextRequest): PartialSettings {
  return rollingWindow === undefined ? {} : { rollingWindow }
}
