import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parse as parseYaml } from 'yaml'

const FILE_NAME = 'heddle.yaml'

export interface FileSources {
  env: Readonly<Record<string, string | undefined>>
  /** The folder of `heddle.yaml`, against which relative paths are resolved. */
  cwd: string
}

export function filePath({ env, cwd }: FileSources): string {
  return resolve(cwd, env['HEDDLE_CONFIG']?.trim() || FILE_NAME)
}

/** The values of one source of the configuration. */
export interface Layer {
  /** `environment`, `flag`, or the path of the file. */
  source: string
  values: Record<string, unknown>
  fault?: string
}

/** `heddle.yaml` of the folder, or the file in `HEDDLE_CONFIG`; a fault if it cannot be read. */
export function readFile(sources: FileSources): Layer {
  const named = sources.env['HEDDLE_CONFIG']?.trim()
  const path = filePath(sources)
  if (!existsSync(path)) {
    return { source: path, values: {}, ...(named && { fault: `HEDDLE_CONFIG: the file ${path} does not exist` }) }
  }
  try {
    const values: unknown = parseYaml(readFileSync(path, 'utf8')) ?? {}
    if (isRecord(values)) return { source: path, values }
    return { source: path, values: {}, fault: `${path}: must be a map of settings` }
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : String(error)
    return { source: path, values: {}, fault: `${path}: cannot be read: ${reason}` }
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}
