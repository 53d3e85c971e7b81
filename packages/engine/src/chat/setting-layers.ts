import type { SettingLayer } from '@heddle/contracts'
import { settingsSourcesOf } from '@heddle/runtime'

const NAMES = { file: 'heddle.yaml', environment: 'environment' } as const

/**
 * The settings of `heddle.yaml` and the environment, for `answerChatCommand` in a process that has those of the servers.
 *
 * @throws PermanentError `VALIDATION_ERROR` for a file or a variable that is not valid
 */
export function settingLayersOf(sources: Parameters<typeof settingsSourcesOf>[0]): SettingLayer[] {
  return settingsSourcesOf(sources).layers.map(({ kind, settings }) => ({ from: NAMES[kind], settings }))
}
