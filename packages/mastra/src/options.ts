import { type AdapterOptions, checkedThread } from '@heddle/client/adapters'
import type { RequestContext, Run } from './framework.js'

export type { RequestContext }

const PLACE = 'the option memory.thread'

export interface HeddleOptions extends AdapterOptions {
  readonly agent: string
  /** The thread. Default: the one that the run names in its option `memory`, with or without a memory of Mastra. */
  readonly thread?: string | ((requestContext: RequestContext | undefined) => string) | undefined
}

export function threadOf({ thread }: Pick<HeddleOptions, 'thread'>, { requestContext, messageList }: Run): string {
  if (typeof thread === 'string') return checkedThread(thread, PLACE)
  if (typeof thread === 'function') return checkedThread(thread(requestContext), PLACE)
  const names = [
    messageList?.get.all.db().at(-1)?.threadId,
    remembered(requestContext?.get('MastraMemory')),
    requestContext?.get('mastra__threadId'),
  ]
  return checkedThread(
    names.find((each) => typeof each === 'string' && each !== ''),
    PLACE,
  )
}

function remembered(memory: unknown): unknown {
  return (memory as { readonly thread?: { readonly id?: unknown } } | undefined)?.thread?.id
}
