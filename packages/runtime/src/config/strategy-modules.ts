import { dirname } from 'node:path'
import { describeReceived, PermanentError } from '@heddle/contracts'
import { readEnvironment } from './environment.js'
import { type FileSources, filePath, readFile } from './file.js'
import { strategyModulesSchema } from './schema.js'

/** The modules in a configuration, and the folder against which they are resolved. */
export interface StrategyModules {
  readonly modules: readonly string[]
  readonly baseDir: string
}

/**
 * Reads only the custom strategies of the configuration: a setting may name a strategy only after a module has
 * registered it, so modules are loaded before the rest of the configuration is checked. Other faults are left to
 * `loadConfig`.
 *
 * @throws PermanentError `VALIDATION_ERROR` if it is not a list of modules
 */
export function strategyModulesOf(sources: FileSources): StrategyModules {
  const fromEnvironment = readEnvironment(sources.env)['strategyModules']
  if (fromEnvironment !== undefined) {
    return { modules: checked(fromEnvironment, 'HEDDLE_STRATEGY_MODULES'), baseDir: sources.cwd }
  }
  const path = filePath(sources)
  const given = readFile(sources).values['strategyModules'] ?? []
  return { modules: checked(given, `${path}: strategyModules`), baseDir: dirname(path) }
}

function checked(given: unknown, place: string): string[] {
  const result = strategyModulesSchema.safeParse(given)
  if (result.success) return result.data
  throw new PermanentError('VALIDATION_ERROR', `${place}: ${result.error.issues[0]?.message}`, {
    field: 'strategyModules',
    received: describeReceived(given),
    hint: 'name paths or packages: strategyModules: [./own-strategy.mjs]',
  })
}
