import { mergeSettings, type PartialSettings, parse, partialSettingsSchema, validationError } from '@heddle/contracts'
import type { ChatClient } from './commands.js'
import { type ChatField, type ChatReply, chatReply } from './reply.js'

/**
 * `/settings` shows what holds for the agent, `/settings rolling_window` one of them, and `/settings rolling_window 7200`
 * sets it. Names are those of `heddle.yaml`, or as spec 000 writes them, with low lines.
 */
export async function settingsCommand(client: ChatClient, agent: string, rest: string): Promise<ChatReply> {
  const { settings } = await client.agents.get(agent)
  const [given = '', ...values] = rest.trim().split(/\s+/)
  const holding = fieldsOf(mergeSettings(settings))
  if (given === '') return chatReply(`Settings of ${agent}`, 'As set for this agent, or by default.', holding)
  const name = given.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
  const field = holding.find((each) => each.name === name)
  if (field === undefined) {
    const names = holding.map((each) => each.name).join(', ')
    throw validationError('setting', 'must be one of those that /settings lists', given, names)
  }
  if (values.length === 0) return chatReply(`Setting of ${agent}`, 'As set for this agent, or by default.', [field])
  const value = readValue(values.join(' '))
  const changed = parse(partialSettingsSchema, withValue(settings, name.split('.'), value), 'settings')
  await client.agents.put(agent, { settings: changed })
  return chatReply(`Setting of ${agent} changed`, `From ${field.value} to ${JSON.stringify(value)}.`, [
    { name, value: JSON.stringify(value) },
  ])
}

/** Groups such as `prune` give a field for each of theirs, named `prune.keepLastN`. */
function fieldsOf(settings: object, prefix = ''): ChatField[] {
  return Object.entries(settings).flatMap(([name, value]: [string, unknown]) =>
    isGroup(value) ? fieldsOf(value, `${prefix}${name}.`) : [{ name: prefix + name, value: JSON.stringify(value) }],
  )
}

function isGroup(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** `none` for what may be without a value; numbers and lists as in JSON; all else is text. */
function readValue(text: string): unknown {
  if (text === 'none') return null
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function withValue(settings: PartialSettings, path: readonly string[], value: unknown): object {
  const [name = '', ...rest] = path
  const group = (settings as Record<string, unknown>)[name]
  const inner = rest.length === 0 ? value : withValue(isGroup(group) ? (group as PartialSettings) : {}, rest, value)
  return { ...settings, [name]: inner }
}
