/// <reference lib="esnext.disposable" preserve="true" />
import type { TransportOptions } from '../http/transport.js'
import type { Client } from '../interface/client.js'

/** Where Heddle is. What is left out comes from the environment, by the same variables as those of the commands. */
export interface ConnectOptions extends Partial<TransportOptions>, Partial<QueueOptions> {}

/** Inside the network: straight to the store and the queue, with `@heddle/engine` installed. */
export interface QueueOptions {
  /** The Postgres of the store. Default `DATABASE_URL`, or `databaseUrl` of `heddle.yaml`. */
  readonly databaseUrl: string
  /** The Redis of the queues. Default `REDIS_URL`; without either, the queues are in Postgres. */
  readonly redisUrl?: string
  /** Default `HEDDLE_PROJECT`, or `default`. Over HTTP the key names the project. */
  readonly project?: string
  /** The prefix of the queues. Default `HEDDLE_QUEUE_PREFIX`, or `heddle`. */
  readonly queuePrefix?: string
}

/** What is to be closed once the program needs Heddle no more; `await using` does so by itself. */
export interface Connection extends AsyncDisposable {
  /** Ends what is under way, and lets go of all connections. Calls after it are refused. */
  close(): Promise<void>
}

export type Environment = Readonly<Record<string, string | undefined>>

/** What `@heddle/engine` opens; see its `openClient`. */
export interface OpenClientOptions extends Partial<QueueOptions> {
  readonly env: Environment
  /** The folder in which `heddle.yaml` is looked up. */
  readonly cwd: string
}

export type OpenedClient =
  | { readonly kind: 'queue'; readonly client: Client; close(): Promise<void> }
  /** The configuration names no database: what there is, is in this folder. */
  | { readonly kind: 'embedded'; readonly dataDir: string }

/** The part of `@heddle/engine` that is used where it is installed. */
export interface EngineModule {
  openClient(options: OpenClientOptions): Promise<OpenedClient>
}
