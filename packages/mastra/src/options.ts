import type { AdapterOptions } from '@heddle/client/adapters'
import type { RequestContext, Run } from './framework.js'

export type { RequestContext }

export interface HeddleOptions extends AdapterOptions {
  readonly agent: string
  /** The thread. Default: the one that the run names in its option `memory`, with or without a memory of Mastra. */
  readonly thread?: string | ((requestContext: RequestContext | undefined) => string) | undefined
}

export function threadOf({ thread }: Pick<HeddleOptions, 'thread'>, { requestContext, messageList }: Run): string {
  if (typeof thread === 'string') return thread
  if (typeof thread === 'function') return thread(requestContext)
  const names = [
    messageList?.get.all.db().at(-1)?.threadId,
    remembered(requestContext?.get('MastraMemory')),
    requestContext?.get('mastra__threadId'),
  ]
  const name = names.find((each) => typeof each === 'string' && each !== '')
  if (typeof name === 'string') return name
  throw new Error('thread: is needed, or a run with the option memory.thread (received neither)')
}

function remembered(memory: unknown): unknown {
  return (memory as { readonly thread?: { readonly id?: unknown } } | undefined)?.thread?.id
}
