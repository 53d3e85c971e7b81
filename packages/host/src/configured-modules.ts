import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { PermanentError, readModelsFile } from '@heddle/contracts'
import { strategyModulesOf } from '@heddle/runtime'

/** Where a configuration is read from. */
export interface ConfigurationPlace {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
}

/**
 * Registers the strategies and the windows of models that the configuration brings. Both are kept by module, so that each
 * thread registers them by itself.
 */
export async function loadConfiguredModules(place: ConfigurationPlace): Promise<void> {
  await Promise.all([registerStrategies(place), registerModels(place)])
}

/** The strategies that the configuration brings are known before an option or a setting names one. */
async function registerStrategies({ env, cwd }: ConfigurationPlace): Promise<void> {
  const { modules, baseDir } = strategyModulesOf({ env, cwd })
  if (modules.length === 0) return
  const { loadStrategyModules } = await import('@heddle/engine')
  await loadStrategyModules(modules, baseDir)
}

/** Windows of models from a models.dev file are known before a budget depends on one. */
async function registerModels({ env, cwd }: ConfigurationPlace): Promise<void> {
  const file = env['HEDDLE_MODELS_FILE']?.trim()
  if (file === undefined || file === '') return
  const [{ addModels }, content] = await Promise.all([import('@heddle/core'), readJsonFile(resolve(cwd, file))])
  addModels(readModelsFile(content))
}

/** @throws PermanentError `VALIDATION_ERROR` where the file is missing or holds no JSON */
async function readJsonFile(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch (cause) {
    throw new PermanentError('VALIDATION_ERROR', `HEDDLE_MODELS_FILE: ${path} is no file of JSON`, {
      field: 'HEDDLE_MODELS_FILE',
      received: path,
      hint: 'take https://models.dev/api.json, or unset the variable',
      cause,
    })
  }
}
