import { mergeSettings } from './merge-settings.js'
import type { PartialSettings } from './settings.js'

/** One value of the settings, with its place: `prune.keepLastN`. */
export interface SettingField {
  readonly name: string
  readonly value: unknown
}

/** All settings, with their effective values after merging some layers over the defaults. */
export function settingFields(...layers: readonly PartialSettings[]): SettingField[] {
  return fieldsOf(mergeSettings(...layers))
}

/** The settings in one layer. */
export function ownFields(settings: PartialSettings): SettingField[] {
  return fieldsOf(settings)
}

/** Groups such as `prune` are flattened into their fields. */
function fieldsOf(settings: object, prefix = ''): SettingField[] {
  return Object.entries(settings).flatMap(([name, value]: [string, unknown]) =>
    isGroup(value) ? fieldsOf(value, `${prefix}${name}.`) : [{ name: prefix + name, value }],
  )
}

function isGroup(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A name as in `heddle.yaml`, also if it is spelled with underscores. */
export function settingName(given: string): string {
  return given.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** `none` for an optional value; numbers and lists as in JSON; anything else is text. */
export function readSetting(text: string): unknown {
  if (text === 'none') return null
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Adds a setting; nothing is checked yet. */
export function withSetting(settings: object, name: string, value: unknown): object {
  const [key = '', ...rest] = name.split('.')
  if (rest.length === 0) return { ...settings, [key]: value }
  const group = (settings as Record<string, unknown>)[key]
  return { ...settings, [key]: withSetting(isGroup(group) ? group : {}, rest.join('.'), value) }
}

/** Removes a setting, and its group if that becomes empty. */
export function withoutSetting(settings: object, name: string): object {
  const [key = '', ...rest] = name.split('.')
  const { [key]: own, ...others } = settings as Record<string, unknown>
  if (rest.length === 0 || !isGroup(own)) return others
  const group = withoutSetting(own, rest.join('.'))
  return Object.keys(group).length === 0 ? others : { ...others, [key]: group }
}

/** Settings of one source, such as `heddle.yaml`; later ones override earlier ones. */
export interface SettingLayer {
  readonly from: string
  readonly settings: PartialSettings
}

export interface SettingOrigin extends SettingField {
  /** The layer that sets it; null for a default. */
  readonly from: string | null
  readonly default: unknown
}

/**
 * The effective settings, and the layer that sets each of them. A layer sets what it names, and also what is derived
 * from it, such as the figures of `search.preset`.
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
