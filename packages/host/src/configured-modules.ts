import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { PermanentError, readModelsFile } from '@heddle/contracts'
import { strategyModulesOf } from '@heddle/runtime'

/** The environment and folder of a configuration. */
export interface ConfigurationPlace {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
}

/**
 * Registers the configured strategies and model windows. Both registries are module state, so each thread must register them.
 */
export async function loadConfiguredModules(place: ConfigurationPlace): Promise<void> {
  await Promise.all([registerStrategies(place), registerModels(place)])
}

/** Registers configured strategies before an option or a setting names one. */
async function registerStrategies({ env, cwd }: ConfigurationPlace): Promise<void> {
  const { modules, baseDir } = strategyModulesOf({ env, cwd })
  if (modules.length === 0) return
  const { loadStrategyModules } = await import('@heddle/engine')
  await loadStrategyModules(modules, baseDir)
}

/** Registers model windows from a models.dev file before a budget depends on one. */
async function registerModels({ env, cwd }: ConfigurationPlace): Promise<void> {
  const file = env['HEDDLE_MODELS_FILE']?.trim()
  if (file === undefined || file === '') return
  const [{ addModels }, content] = await Promise.all([import('@heddle/core'), readJsonFile(resolve(cwd, file))])
  addModels(readModelsFile(content))
}

/** @throws PermanentError `VALIDATION_ERROR` if the file is missing or not JSON */
async function readJsonFile(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch (cause) {
    throw new PermanentError('VALIDATION_ERROR', `HEDDLE_MODELS_FILE: ${path} is not a JSON file`, {
      field: 'HEDDLE_MODELS_FILE',
      received: path,
      hint: 'download https://models.dev/api.json, or unset the variable',
      cause,
    })
  }
}
