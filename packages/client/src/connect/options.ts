/// <reference lib="esnext.disposable" preserve="true" />
import type { TransportOptions } from '../http/transport.js'
import type { Client } from '../interface/client.js'

/** How to reach Heddle. Missing options are taken from the environment variables that the commands use. */
export interface ConnectOptions extends Partial<TransportOptions>, Partial<QueueOptions> {}

/** Inside the network: directly to the store and the queue, with `@heddle/engine` installed. */
export interface QueueOptions {
  /** The store's Postgres. Default `DATABASE_URL`, or `databaseUrl` of `heddle.yaml`. */
  readonly databaseUrl: string
  /**
   * The same Postgres without the pooler of `databaseUrl`, for connections that listen. Default `HEDDLE_DIRECT_DATABASE_URL`
   * if `databaseUrl` is not given.
   */
  readonly directDatabaseUrl?: string
  /**
   * The queues' Redis, or the sentinels that name it (`redis+sentinel://`). Default `REDIS_URL`; without either, the queues are in
   * Postgres.
   */
  readonly redisUrl?: string
  /** Default `HEDDLE_PROJECT`, or `default`. Over HTTP the key determines the project. */
  readonly project?: string
  /** The prefix of the queues. Default `HEDDLE_QUEUE_PREFIX`, or `heddle`. */
  readonly queuePrefix?: string
}

/** To be closed when the program no longer needs Heddle; `await using` does it automatically. */
export interface Connection extends AsyncDisposable {
  /** Aborts running calls, and closes all connections. Later calls are refused. */
  close(): Promise<void>
}

export type Environment = Readonly<Record<string, string | undefined>>

/** Parameters of `openClient` of `@heddle/engine`. */
export interface OpenClientOptions extends Partial<QueueOptions> {
  readonly env: Environment
  /** The folder in which `heddle.yaml` is searched. */
  readonly cwd: string
}

export type OpenedClient =
  | { readonly kind: 'queue'; readonly client: Client; close(): Promise<void> }
  /** The configuration names no database; an embedded one may be in this folder. */
  | { readonly kind: 'embedded'; readonly dataDir: string }

/** The used part of `@heddle/engine`. */
export interface EngineModule {
  openClient(options: OpenClientOptions): Promise<OpenedClient>
}
