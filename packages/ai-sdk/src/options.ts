import type { AdapterOptions } from '@heddle/client/adapters'

export interface HeddleOptions extends AdapterOptions {
  readonly agent: string
  readonly thread: string
}
