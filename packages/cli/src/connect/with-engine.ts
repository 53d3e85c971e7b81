import type { Engine, EngineNeeds } from '@heddle/host'
import type { StoreEngine } from '@heddle/host/store'
import { untilStopped } from '@heddle/runtime'
import { type CommandContext, type CommonOptions, configOf, loggerOf } from './context.js'
import { refuseRemote } from './gateway-address.js'

export { untilStopped }

/**
 * Opens what a command needs, does its work, and closes everything again, even if the work fails or the command is
 * interrupted.
 */
export async function withEngine<T>(
  context: CommandContext,
  options: CommonOptions,
  needs: EngineNeeds,
  work: (engine: Engine) => Promise<T>,
): Promise<T> {
  refuseRemote(context, {}, 'this command')
  const config = configOf(context, options)
  // Loaded lazily: help and usage errors need no database driver.
  const { openEngine } = await import('@heddle/host')
  return await closing(
    context,
    await openEngine({ context, config, log: loggerOf(context, config, 'command'), needs }),
    work,
  )
}

/** The same for a command that needs the store and no queue: it works while the queues are down. */
export async function withStore<T>(
  context: CommandContext,
  options: CommonOptions,
  work: (engine: StoreEngine) => Promise<T>,
): Promise<T> {
  refuseRemote(context, {}, 'this command')
  const config = configOf(context, options)
  const { openStoreEngine } = await import('@heddle/host/store')
  return await closing(
    context,
    await openStoreEngine({ context, config, log: loggerOf(context, config, 'command') }),
    work,
  )
}

async function closing<Opened extends StoreEngine, T>(
  context: CommandContext,
  engine: Opened,
  work: (engine: Opened) => Promise<T>,
): Promise<T> {
  try {
    return await untilStopped(context.signal, work(engine))
  } finally {
    await engine.close()
  }
}
