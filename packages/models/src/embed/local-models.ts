import { access, readdir, readFile, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { PermanentError, validationError } from '@heddle/contracts'
import type { ModelDtype } from './local-embedder.protocol.js'

/** The default (docs/embedding.md#which-embedder). */
export const DEFAULT_MODEL = 'Xenova/all-MiniLM-L6-v2'

export interface LocalModel {
  /** The folder that holds the models; the model's own files are in `<root>/<model>`. */
  readonly root: string
  readonly dtype: ModelDtype
  readonly dimensions: number
}

/**
 * Where transformers.js keeps what it downloaded (docs/embedding.md#getting-a-model): `TRANSFORMERS_CACHE`, else
 * `~/.cache/transformers`.
 */
export function transformersCacheDir(env: Readonly<Record<string, string | undefined>>): string {
  return env['TRANSFORMERS_CACHE'] || join(homedir(), '.cache', 'transformers')
}

/** The folders that are searched for models, in this order. */
export function modelFolders(
  modelsDir: string | null,
  env: Readonly<Record<string, string | undefined>>,
): [string, ...string[]] {
  const cacheDir = transformersCacheDir(env)
  return modelsDir === null ? [cacheDir] : [modelsDir, cacheDir]
}

/** A name on the Hugging Face hub. It becomes part of a path, so it must not climb out of the folder. */
const MODEL_NAME = /^[\w-][\w.-]*(\/[\w-][\w.-]*)?$/

/**
 * The first of the folders that has all files of a model, or null.
 *
 * @param dtype which weights; default: the quantized ones if they exist, else the full ones
 * @throws PermanentError `VALIDATION_ERROR` for an invalid model name or `config.json`
 */
export async function findLocalModel(
  model: string,
  roots: readonly string[],
  dtype?: ModelDtype,
): Promise<LocalModel | null> {
  checkModelName(model)
  for (const root of roots) {
    const folder = join(root, model)
    const isThere = (...path: string[]) => exists(join(folder, ...path))
    if (!(await isThere('config.json')) || !(await isThere('tokenizer.json'))) continue
    if (!(await isThere('tokenizer_config.json'))) continue
    for (const candidate of dtype === undefined ? (['q8', 'fp32'] as const) : [dtype]) {
      if (!(await isThere('onnx', weightsFile(candidate)))) continue
      return { root, dtype: candidate, dimensions: await readDimensions(join(folder, 'config.json')) }
    }
  }
  return null
}

/** @throws PermanentError `VALIDATION_ERROR` for an invalid model name */
export function checkModelName(model: string): void {
  if (!MODEL_NAME.test(model)) throw validationError('model', 'must be a name such as Xenova/all-MiniLM-L6-v2', model)
}

export interface ListedModel extends LocalModel {
  readonly model: string
  /** Size of the weights. */
  readonly bytes: number
}

/** The complete models in some folders, by name; of a model in several folders the first is listed. */
export async function listLocalModels(roots: readonly string[]): Promise<ListedModel[]> {
  const listed = new Map<string, ListedModel>()
  for (const root of roots) {
    for (const owner of await foldersIn(root)) {
      const names = [owner, ...(await foldersIn(join(root, owner))).map((name) => `${owner}/${name}`)]
      for (const model of names.filter((name) => MODEL_NAME.test(name) && !listed.has(name))) {
        const found = await findLocalModel(model, [root]).catch(() => null)
        if (found === null) continue
        const { size } = await stat(join(root, model, 'onnx', weightsFile(found.dtype)))
        listed.set(model, { model, ...found, bytes: size })
      }
    }
  }
  return [...listed.values()].sort((left, right) => (left.model < right.model ? -1 : 1))
}

async function foldersIn(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true })
    return entries.filter((entry) => entry.isDirectory() || entry.isSymbolicLink()).map(({ name }) => name)
  } catch {
    return []
  }
}

function weightsFile(dtype: ModelDtype): string {
  return dtype === 'q8' ? 'model_quantized.onnx' : 'model.onnx'
}

async function readDimensions(configFile: string): Promise<number> {
  const config = parseJson(await readFile(configFile, 'utf8'))
  if (config !== null && typeof config === 'object' && 'hidden_size' in config) {
    const size = config.hidden_size
    if (typeof size === 'number' && Number.isInteger(size) && size > 0) return size
  }
  throw new PermanentError('VALIDATION_ERROR', `${configFile} is not the configuration of an embedding model`, {
    field: 'hidden_size',
    hint: 'it must contain hidden_size, the number of dimensions; copy the model again',
  })
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path)
    return true
  } catch {
    return false
  }
}
