import {
  parse,
  partialSettingsSchema,
  readSetting,
  settingFields,
  settingName,
  validationError,
  withSetting,
} from '@heddle/contracts'
import { changeSettings } from '../agents/change-settings.js'
import type { ChatClient } from './client.js'
import { type ChatReply, chatReply } from './reply.js'

/**
 * `/settings` shows what holds for the agent, `/settings rolling_window` one of them, and `/settings rolling_window 7200`
 * sets it. Names are those of `heddle.yaml`, or the same with low lines (docs/chat.md).
 */
export async function settingsCommand(client: ChatClient, agent: string, rest: string): Promise<ChatReply> {
  const { settings } = await client.agents.get(agent)
  const [given = '', ...values] = rest.trim().split(/\s+/)
  const holding = settingFields(settings).map(({ name, value }) => ({ name, value: JSON.stringify(value) }))
  if (given === '') return chatReply(`Settings of ${agent}`, 'As set for this agent, or by default.', holding)
  const name = settingName(given)
  const field = holding.find((each) => each.name === name)
  if (field === undefined) {
    const names = holding.map((each) => each.name).join(', ')
    throw validationError('setting', 'must be one of those that /settings lists', given, names)
  }
  if (values.length === 0) return chatReply(`Setting of ${agent}`, 'As set for this agent, or by default.', [field])
  const value = readSetting(values.join(' '))
  await changeSettings(client.agents, agent, (now) =>
    parse(partialSettingsSchema, withSetting(now, name, value), 'settings'),
  )
  return chatReply(`Setting of ${agent} changed`, `From ${field.value} to ${JSON.stringify(value)}.`, [
    { name, value: JSON.stringify(value) },
  ])
}
