import { createRequire } from 'node:module'
import { isAbsolute, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { PermanentError, strategyNames } from '@heddle/contracts'
import { strategyKit } from '@heddle/core'

/** Loaded modules: a strategy is registered once per process, however often its module is named. */
const loaded = new Set<string>()

/**
 * Loads modules that register custom strategies. Each has a function as its default export, which is called with
 * `{ defineStrategy, registerStrategy }`. Must be called when a process starts, before settings are read, with the same modules
 * in each process that plans or builds; `heddle` does so for the modules in `strategyModules`.
 *
 * @param modules paths relative to `baseDir`, or names of packages that are resolved from there
 * @throws PermanentError `VALIDATION_ERROR` with the name of the module if it is missing, fails, has no such export, or
 * registers nothing or a used name
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
  if (strategyNames().length === before) throw badModule(module, 'did not register a strategy')
}

/** Packages are resolved from the folder of the configuration, otherwise from this module. */
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
  // Node appends the importing file, which is one of Heddle's own and useless to users.
  return line.replace(/ imported from .*$/, '')
}
