import { type AdapterOptions, checkedThread } from '@heddle/client/adapters'

const PLACE = 'configurable.thread_id'

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
  if (typeof thread === 'string') return checkedThread(thread, PLACE)
  return checkedThread(typeof thread === 'function' ? thread(run) : run.configurable?.thread_id, PLACE)
}
