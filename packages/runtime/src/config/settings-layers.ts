import type { PartialSettings } from '@heddle/contracts'
import { readEnvironment, type VariableName, variableOf } from './environment.js'
import { type FileSources, filePath, readFile } from './file.js'
import { settingsOf } from './load.js'
import { rawConfigSchema } from './schema.js'

export interface SettingsSource {
  readonly kind: 'file' | 'environment'
  readonly settings: PartialSettings
}

/** The sources of a configuration's settings, by precedence; for a configuration that `loadConfig` accepts. */
export function settingsSourcesOf(sources: FileSources): { path: string; layers: SettingsSource[] } {
  const read = (values: unknown) => settingsOf(rawConfigSchema.parse(values))
  return {
    path: filePath(sources),
    layers: [
      { kind: 'file', settings: read(readFile(sources).values) },
      { kind: 'environment', settings: read(readEnvironment(sources.env)) },
    ],
  }
}

/** The variable that sets a setting, such as `HEDDLE_BUDGET` for `budget`. */
export function variableOfSetting(name: string): VariableName | undefined {
  return variableOf(['settings', ...name.split('.')])
}
