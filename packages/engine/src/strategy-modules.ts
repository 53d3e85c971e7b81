import { createRequire } from 'node:module'
import { isAbsolute, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { PermanentError, strategyNames } from '@heddle/contracts'
import { strategyKit } from '@heddle/core'

/** Loaded ones: a strategy is registered once in a process, however often its module is named. */
const loaded = new Set<string>()

/**
 * Loads modules that register strategies of one's own. Each has a function as its default export, which is called with
 * `{ defineStrategy, registerStrategy }`. To be called while a process starts, before settings are read, and alike in each
 * process that plans or builds: `heddle` does it for what `strategyModules` names.
 *
 * @param modules paths from `baseDir`, or names of packages that are found from there
 * @throws PermanentError `VALIDATION_ERROR` that names the module: where it is not found, cannot be run, has no such
 * export, registers nothing, or a name that is taken
 */
export async function loadStrategyModules(modules: readonly string[], baseDir: string): Promise<void> {
  for (const module of modules) {
    const address = addressOf(module, baseDir)
    if (loaded.has(address)) continue
    await register(module, address)
    loaded.add(address)
  }
}

async function register(module: string, address: string): Promise<void> {
  const exported: unknown = await import(address).then(
    (namespace: { default?: unknown }) => namespace.default,
    (cause: unknown) => {
      throw badModule(module, `cannot be loaded: ${firstLine(cause)}`, cause)
    },
  )
  if (typeof exported !== 'function') throw badModule(module, 'must have a function as its default export')
  const before = strategyNames().length
  try {
    await exported(strategyKit)
  } catch (cause) {
    throw badModule(module, `failed while it registered its strategies: ${firstLine(cause)}`, cause)
  }
  if (strategyNames().length === before) throw badModule(module, 'must register at least one strategy, and did not')
}

/** A package is found from the folder of the configuration; one that says nothing of that way is found from here. */
function addressOf(module: string, baseDir: string): string {
  if (isAbsolute(module) || module.startsWith('.')) return pathToFileURL(resolve(baseDir, module)).href
  try {
    return pathToFileURL(createRequire(join(baseDir, 'heddle.yaml')).resolve(module)).href
  } catch {
    return module
  }
}

function badModule(module: string, rule: string, cause?: unknown): PermanentError {
  return new PermanentError('VALIDATION_ERROR', `strategyModules: the module "${module}" ${rule}`, {
    field: 'strategyModules',
    received: module,
    hint: 'it is a JavaScript module: export default ({ defineStrategy, registerStrategy }) => registerStrategy(name, make)',
    ...(cause !== undefined && { cause }),
  })
}

function firstLine(error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
  // Node says besides which of our own files asked for it, which helps nobody.
  return line.replace(/ imported from .*$/, '')
}
