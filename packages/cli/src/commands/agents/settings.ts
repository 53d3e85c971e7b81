import type { RemoteClient } from '@heddle/client/http'
import {
  describeReceived,
  didYouMean,
  type PartialSettings,
  partialSettingsSchema,
  readSetting,
  settingFields,
  settingName,
  withoutSetting,
  withSetting,
  wording,
} from '@heddle/contracts'
import type { Command } from 'commander'
import type { CommandContext, CommonOptions } from '../../connect/context.js'
import { effectiveSettings, type SettingRow } from '../../connect/settings-in-force.js'
import { type UrlOptions, withUrlOption } from '../../connect/with-remote.js'
import { nameOption, withCommonOptions } from '../../options/options.js'
import { UsageError } from '../../output/failure.js'
import { oneLine, safeText } from '../../output/safe-text.js'
import { itemTable } from '../../output/table.js'
import { clientCommand } from '../declared.js'

interface AgentOptions extends CommonOptions, UrlOptions {
  readonly agent?: string
}

interface ChangeOptions extends CommonOptions {
  readonly agent: string
}

const VALUE_CHARACTERS = 60

export function registerSettings(program: Command, context: CommandContext): void {
  const group = program.command('settings').description('show effective settings and their source; change them')

  const list = withAgent(group.command('list').description('list the effective settings and the source of each'))
  withCommonOptions(withUrlOption(list), [
    'heddle settings list',
    'heddle settings list --agent coder',
    'heddle settings list --agent coder --json',
  ])
    .addHelpText('after', '\nLater sources override earlier ones: default, heddle.yaml, environment, agent, request.')
    .action(async (options: AgentOptions) => {
      const items = await effectiveSettings(context, options)
      context.printer.result({ agent: options.agent ?? null, items, nextCursor: null }, () =>
        itemTable(items, [
          { title: 'setting', text: ({ name }) => name },
          { title: 'value', text: ({ value }) => oneLine(JSON.stringify(value), VALUE_CHARACTERS) },
          { title: 'from', text: fromText },
        ]),
      )
    })

  const show = withAgent(group.command('show').description('show the value, the source and the default of a setting'))
  withCommonOptions(withUrlOption(show.argument('<name>', 'such as budget or prune.keepLastN', knownSetting)), [
    'heddle settings show budget --agent coder',
    'heddle settings show prune.keepLastN --json',
  ]).action(async (name: string, options: AgentOptions) => {
    const all = await effectiveSettings(context, options)
    const unset = { name, value: null, from: 'default', source: null, default: null }
    const row = all.find((each) => each.name === name) ?? unset
    context.printer.result({ agent: options.agent ?? null, ...row }, () => [
      `${row.name}: ${oneLine(JSON.stringify(row.value), 400)}`,
      `from: ${fromText(row)}`,
      `default: ${oneLine(JSON.stringify(row.default), 400)}`,
    ])
  })

  clientCommand(group, context, {
    name: 'set',
    description: 'change a setting of an agent',
    arguments: [
      ['<name>', 'such as budget or prune.keepLastN', knownSetting],
      ['<value>', 'a number, a word, none, or JSON'],
    ],
    options: (command) =>
      command.requiredOption('--agent <name>', 'the agent; created if it does not exist', nameOption('agent')),
    examples: [
      'heddle settings set budget 16000 --agent coder',
      'heddle settings set rollingWindow none --agent coder',
      'heddle settings set sandwich.preserveTop 3 --agent coder --json',
    ],
    notes: 'To change it for all agents, write it below "settings" in heddle.yaml.',
    check: (_: ChangeOptions, name: string, text: string) => void checkedValue(name, text),
    load: ({ agents }, { agent }: ChangeOptions, name: string, text: string) =>
      change(agents, agent, name, (settings) => withSetting(settings, name, checkedValue(name, text)), {
        mustExist: false,
      }),
    lines: changeLines,
  })
  clientCommand(group, context, {
    name: 'remove',
    description: "remove an agent's setting, so that the next lower source applies",
    arguments: [['<name>', 'such as budget or prune.keepLastN', knownSetting]],
    options: (command) => command.requiredOption('--agent <name>', 'the agent', nameOption('agent')),
    examples: ['heddle settings remove budget --agent coder'],
    load: ({ agents }, { agent }: ChangeOptions, name: string) =>
      change(agents, agent, name, (settings) => withoutSetting(settings, name), { mustExist: true }),
    lines: changeLines,
  })
}

function withAgent(command: Command): Command {
  return command.option('--agent <name>', 'include the settings of this agent', nameOption('agent'))
}

/** A parser for the name of a setting, of a single one or of a group. */
function knownSetting(text: string): string {
  const name = settingName(text)
  const result = partialSettingsSchema.safeParse(withSetting({}, name, undefined))
  const isUnknown = !result.success && result.error.issues.some(({ code }) => code === 'unrecognized_keys')
  if (!isUnknown && /^[a-z][\w.-]*$/i.test(name)) return name
  throw unknownSetting('name', name, text)
}

/** @param name compared with the names of settings and groups, for a suggestion */
function unknownSetting(field: string, name: string, received: string): UsageError {
  const fields = settingFields().map((each) => each.name)
  const groups = fields.flatMap((each) => (each.includes('.') ? [each.slice(0, each.lastIndexOf('.'))] : []))
  const rule = `is not a setting${didYouMean(name, [...fields, ...groups])}`
  return new UsageError(field, rule, describeReceived(received), 'heddle settings list shows all of them.')
}

/** @throws UsageError before anything is opened */
function checkedValue(name: string, text: string): unknown {
  const value = readSetting(text)
  const result = partialSettingsSchema.safeParse(withSetting({}, name, value), { error: wording })
  if (result.success) return value
  const [issue] = result.error.issues
  if (issue?.code === 'unrecognized_keys') throw unknownSetting(name, name, text)
  throw new UsageError(
    name,
    issue?.message ?? 'is not valid',
    describeReceived(text),
    `heddle settings show ${name} shows the current value.`,
  )
}

interface Change {
  readonly agent: string
  readonly version: number
  readonly name: string
  readonly settings: PartialSettings
}

async function change(
  agents: RemoteClient['agents'],
  agent: string,
  name: string,
  changed: (settings: PartialSettings) => object,
  options: { readonly mustExist: boolean },
): Promise<Change> {
  const { changeSettings } = await import('@heddle/engine')
  const { version, settings } = await changeSettings(
    agents,
    agent,
    (before: PartialSettings) => changed(before) as PartialSettings,
    options,
  )
  return { agent, version, name, settings }
}

function changeLines({ agent, version, settings }: Change): string[] {
  return [`agent ${safeText(agent)} · version ${version}`, `settings: ${oneLine(JSON.stringify(settings), 400)}`]
}

function fromText({ from, source }: Pick<SettingRow, 'from' | 'source'>): string {
  return source === null ? from : `${from} (${safeText(source)})`
}
