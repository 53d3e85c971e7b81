import type { AdapterOptions } from '@heddle/client/adapters'

/** The part of a run's configuration that names its conversation. */
export interface RunConfiguration {
  readonly configurable?: { readonly thread_id?: string } | undefined
}

export interface HeddleOptions extends AdapterOptions {
  readonly agent: string
  /** The thread. Default: the `thread_id` of the run, as checkpointers use it. */
  readonly thread?: string | ((run: RunConfiguration) => string) | undefined
}

export function threadOf({ thread }: Pick<HeddleOptions, 'thread'>, run: RunConfiguration): string {
  if (typeof thread === 'string') return thread
  const name = typeof thread === 'function' ? thread(run) : run.configurable?.thread_id
  if (name !== undefined) return name
  throw new Error('thread: is needed, or a run with configurable.thread_id (received neither)')
}
