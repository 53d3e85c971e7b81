import { PermanentError, RetryableError, validationError } from '@heddle/contracts'
import { addressOfUp, dataFolderOf, environment, openAbortController, workingDirectory } from '#local'
import { remoteClientOf } from '../http/client.js'
import type { RemoteClient } from '../http/remote-client.js'
import type { TransportOptions } from '../http/transport.js'
import type { Client } from '../interface/client.js'
import type { Connection, ConnectOptions, EngineModule, Environment, OpenedClient, QueueOptions } from './options.js'

/** The external dependencies of `connect`. */
export interface Surroundings {
  readonly env: Environment
  readonly cwd: string
  /** @throws Node's `ERR_MODULE_NOT_FOUND` if the engine is not installed */
  loadEngine(): Promise<EngineModule>
}

/**
 * Opens Heddle from the environment: over HTTP if `HEDDLE_URL` names a gateway, else over the queue if `DATABASE_URL`
 * names a store (which needs `@heddle/engine`), else through the `heddle up` that serves the folder `.heddle`. Options
 * override the environment.
 *
 * @throws PermanentError `VALIDATION_ERROR` for contradictory options; `NOT_FOUND` if `@heddle/engine` is needed and
 * not installed, or if no Heddle runs
 */
export async function connect(options: QueueOptions): Promise<Client & Connection>
export async function connect(options?: ConnectOptions): Promise<RemoteClient & Connection>
export async function connect(options: ConnectOptions = {}): Promise<RemoteClient & Connection> {
  return await connectIn({ env: environment, cwd: workingDirectory(), loadEngine }, options)
}

export async function connectIn(around: Surroundings, options: ConnectOptions): Promise<RemoteClient & Connection> {
  const { url, databaseUrl, directDatabaseUrl, redisUrl, project, queuePrefix } = options
  const { env, cwd } = around
  const toQueue = { databaseUrl, directDatabaseUrl, redisUrl, project, queuePrefix }
  const [given] = Object.entries(toQueue).find(([, value]) => value !== undefined) ?? []
  if (url !== undefined && given !== undefined) {
    throw validationError(given, 'has no effect beside url: over HTTP the gateway and the key decide', '')
  }
  const gateway = url ?? (databaseUrl === undefined ? variable(env, 'HEDDLE_URL') : undefined)
  if (gateway !== undefined) return overHttp(options, gateway, env)

  const needsEngine = databaseUrl !== undefined || variable(env, 'DATABASE_URL') !== undefined
  const engine = await engineOf(around, needsEngine)
  const opened: OpenedClient =
    engine === null
      ? { kind: 'embedded', dataDir: dataFolderOf(env, cwd) }
      : await engine.openClient({ ...withoutUndefined(toQueue), env, cwd })
  if (opened.kind === 'queue') return withClose(opened.client, () => opened.close())
  const address = await addressOfUp(opened.dataDir)
  if (address !== null) return overHttp(options, address, env)
  throw new PermanentError('NOT_FOUND', `no Heddle runs for ${opened.dataDir}, and no other one is named`, {
    field: 'url',
    hint: 'Run `npx heddle up` in this folder, set HEDDLE_URL to a gateway, or set DATABASE_URL with @heddle/engine installed.',
  })
}

function overHttp(options: ConnectOptions, url: string, env: Environment): RemoteClient & Connection {
  const { key = variable(env, 'HEDDLE_KEY'), deadlineMs, fetch } = options
  const closing = openAbortController()
  const transport: TransportOptions = { url, ...withoutUndefined({ key, deadlineMs, fetch }) }
  return withClose(remoteClientOf(transport, closing.signal), async () =>
    closing.abort(new RetryableError('SERVICE_UNAVAILABLE', 'the client was closed')),
  )
}

function withClose(client: RemoteClient, close: () => Promise<void>): RemoteClient & Connection {
  let closing: Promise<void> | undefined
  const closeOnce = (): Promise<void> => {
    closing ??= close()
    return closing
  }
  return { ...client, close: closeOnce, [Symbol.asyncDispose]: closeOnce }
}

/** @returns null if it is neither installed nor needed */
async function engineOf({ loadEngine: load }: Surroundings, isNeeded: boolean): Promise<EngineModule | null> {
  try {
    return await load()
  } catch (cause) {
    if (!isMissing(cause)) throw cause
    if (!isNeeded) return null
    throw new PermanentError('NOT_FOUND', 'a client over the queue needs @heddle/engine, which is not installed', {
      field: 'databaseUrl',
      hint: 'npm install @heddle/engine, or name a gateway with url (HEDDLE_URL).',
      cause,
    })
  }
}

/** Not a literal, so that bundlers and compilers work without the engine. */
const ENGINE: string = '@heddle/engine'
const loadEngine = async () => (await import(/* @vite-ignore */ ENGINE)) as EngineModule

/** Whether the engine itself is missing, rather than one of its dependencies. */
function isMissing(error: unknown): boolean {
  if (!(error instanceof Error) || !error.message.includes(ENGINE)) return false
  return 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND'
}

function variable(env: Environment, name: string): string | undefined {
  return env[name]?.trim() || undefined
}

function withoutUndefined<T extends object>(fields: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given) as { [Name in keyof T]?: Exclude<T[Name], undefined> }
}
