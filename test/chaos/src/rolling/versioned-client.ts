import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import type { Connection, ConnectOptions } from '@heddle/client/connect'
import { type Connected, refusalOf, type UserClient } from '../users/user-client.js'

/** A user over HTTP or over the queue, with the SDK of a version. */
export interface VersionPlace {
  readonly seed: number
  /** The folder of the version, which is built. */
  readonly version: string
  readonly connect: Pick<ConnectOptions, 'url' | 'key' | 'databaseUrl' | 'redisUrl' | 'project' | 'queuePrefix'>
  /** Variables of the user's process. */
  readonly environment: Readonly<Record<string, string>>
}

/** Replaces the SDK of a user that works. The user answers with `renewed`. */
export interface Renewal {
  readonly version: string
}

interface ConnectModule {
  connect(options: VersionPlace['connect']): Promise<UserClient & Connection>
}

/** Opens the client as a program does that has the packages of this version installed. */
export async function connectWithVersion(place: VersionPlace): Promise<Connected> {
  Object.assign(process.env, place.environment)
  const open = async (version: string) => {
    const file = join(version, 'packages/client/dist/connect/index.js')
    const module = (await import(pathToFileURL(file).href)) as ConnectModule
    return await connectWithRetries(() => module.connect(place.connect))
  }
  const opened = [await open(place.version)]
  let latest = opened[0] as UserClient & Connection
  const renew = async () => {
    const [{ version }] = (await nextRenewal()) as [Renewal]
    latest = await open(version)
    // Calls of the former client end by themselves.
    opened.push(latest)
    process.send?.('renewed')
  }
  void renew()
  return {
    client: {
      messages: { append: (options) => latest.messages.append(options) },
      contexts: {
        build: (request, options) => latest.contexts.build(request, options),
        get: (id, options) => latest.contexts.get(id, options),
      },
    },
    async close() {
      for (const client of opened) await client.close()
    },
  }
}

const TRIES_MAX = 10
const RETRY_AFTER_MS = 1_000

/** A busy machine may accept a connection late. */
async function connectWithRetries<T>(connect: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await connect()
    } catch (error) {
      if (refusalOf(error)?.disposition !== 'retry' || tries === TRIES_MAX) throw error
    }
    await wait(RETRY_AFTER_MS)
  }
}

async function nextRenewal(): Promise<unknown[]> {
  for (;;) {
    const message = await once(process, 'message')
    if (typeof message[0] === 'object') return message
  }
}
