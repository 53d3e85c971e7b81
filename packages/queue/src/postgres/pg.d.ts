/** The part of `pg` that this package uses. The driver ships no types. */
declare module 'pg' {
  import type { EventEmitter } from 'node:events'

  export interface ClientConfig {
    connectionString?: string
    connectionTimeoutMillis?: number
    query_timeout?: number
    keepAlive?: boolean
    keepAliveInitialDelayMillis?: number
    application_name?: string
  }

  export interface Notification {
    channel: string
    payload?: string
  }

  export class Client extends EventEmitter {
    constructor(config: ClientConfig)
    connect(): Promise<void>
    query<Row = Record<string, unknown>>(text: string, values?: readonly unknown[]): Promise<{ rows: Row[] }>
    end(): Promise<void>
  }

  const pg: { Client: typeof Client }
  export default pg
}
