import { mergeSettings } from './merge-settings.js'
import type { PartialSettings } from './settings.js'

/** One value of the settings, with its place: `prune.keepLastN`. */
export interface SettingField {
  readonly name: string
  readonly value: unknown
}

/** All that can be set, with what holds where some layers are laid over the defaults. */
export function settingFields(...layers: readonly PartialSettings[]): SettingField[] {
  return fieldsOf(mergeSettings(...layers))
}

/** What one layer sets by itself. */
export function ownFields(settings: PartialSettings): SettingField[] {
  return fieldsOf(settings)
}

/** Groups such as `prune` give a field for each of theirs. */
function fieldsOf(settings: object, prefix = ''): SettingField[] {
  return Object.entries(settings).flatMap(([name, value]: [string, unknown]) =>
    isGroup(value) ? fieldsOf(value, `${prefix}${name}.`) : [{ name: prefix + name, value }],
  )
}

function isGroup(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A name as `heddle.yaml` has it, also where it is spelled with low lines. */
export function settingName(given: string): string {
  return given.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** `none` for what may be without a value; numbers and lists as in JSON; all else is text. */
export function readSetting(text: string): unknown {
  if (text === 'none') return null
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The same settings with one more of them; nothing is checked yet. */
export function withSetting(settings: object, name: string, value: unknown): object {
  const [key = '', ...rest] = name.split('.')
  if (rest.length === 0) return { ...settings, [key]: value }
  const group = (settings as Record<string, unknown>)[key]
  return { ...settings, [key]: withSetting(isGroup(group) ? group : {}, rest.join('.'), value) }
}

/** The same settings without one of them, and without the group that it was the last of. */
export function withoutSetting(settings: object, name: string): object {
  const [key = '', ...rest] = name.split('.')
  const { [key]: own, ...others } = settings as Record<string, unknown>
  if (rest.length === 0 || !isGroup(own)) return others
  const group = withoutSetting(own, rest.join('.'))
  return Object.keys(group).length === 0 ? others : { ...others, [key]: group }
}

/** Settings that stand somewhere, such as in `heddle.yaml`; the later ones go over the earlier. */
export interface SettingLayer {
  readonly from: string
  readonly settings: PartialSettings
}

export interface SettingOrigin extends SettingField {
  /** The layer that says so; null for a default. */
  readonly from: string | null
  readonly default: unknown
}

/**
 * What holds, and which layer says so. A layer says what it names, and also what follows from it, as the figures of
 * `search.preset` do.
 */
export function settingOrigins(layers: readonly SettingLayer[]): SettingOrigin[] {
  const defaults = new Map(settingFields().map(({ name, value }) => [name, value]))
  const origins = new Map<string, string | null>()
  const before: PartialSettings[] = []
  let holding = defaults
  for (const { from, settings } of layers) {
    before.push(settings)
    const named = new Set(ownFields(settings).map(({ name }) => name))
    const after = new Map(settingFields(...before).map(({ name, value }) => [name, value]))
    for (const [name, value] of after) {
      if (named.has(name) || JSON.stringify(value) !== JSON.stringify(holding.get(name))) origins.set(name, from)
    }
    holding = after
  }
  return [...holding].map(([name, value]) => ({
    name,
    value,
    from: origins.get(name) ?? null,
    default: defaults.get(name) ?? null,
  }))
}
