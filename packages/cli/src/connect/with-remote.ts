import type { RemoteClient } from '@heddle/client/http'
import type { EngineNeeds } from '@heddle/host'
import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from './context.js'
import { gatewayOf } from './gateway-address.js'
import { refusePaused } from './paused.js'
import { untilStopped, withEngine, withStore } from './with-engine.js'

export interface UrlOptions {
  readonly url?: string
}

/** Adds the option of commands that can use a gateway instead of a store on this machine. */
export function withUrlOption(command: Command): Command {
  return command.option(
    '--url <address>',
    'use this gateway (HEDDLE_URL) with the key in HEDDLE_KEY, instead of a store on this machine',
  )
}

/** A client of the gateway of the command line or of HEDDLE_URL; null without either. */
export async function remoteClientOf(context: CommandContext, options: UrlOptions): Promise<RemoteClient | null> {
  const url = gatewayOf(context, options)
  if (url === null) return null
  const { createClient } = await import('@heddle/client/http')
  // The key is never an argument: other users of the machine can read those.
  const key = context.env['HEDDLE_KEY']
  return createClient({ url, key })
}

/**
 * Does a command's work over HTTP if a gateway is named, otherwise with the configured store and queues.
 *
 * @param needs what to open without a gateway; null for the store alone
 */
export async function withRemote<T>(
  context: CommandContext,
  options: CommonOptions & UrlOptions,
  needs: EngineNeeds | null,
  work: (client: RemoteClient) => Promise<T>,
): Promise<T> {
  const remote = await remoteClientOf(context, options)
  if (remote !== null) return await untilStopped(context.signal, work(remote))
  if (needs === null) return await withStore(context, options, ({ client }) => work(client))
  return await withEngine(context, options, needs, async (engine) => {
    for (const stage of needs.stages) await refusePaused(engine, stage)
    return await work(engine.client)
  })
}
