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
import { holdingSettings, type SettingRow } from '../../connect/settings-in-force.js'
import { type UrlOptions, withRemote, withUrlOption } from '../../connect/with-remote.js'
import { nameOption, withCommonOptions } from '../../options/options.js'
import { UsageError } from '../../output/failure.js'
import { oneLine, safeText } from '../../output/safe-text.js'
import { type Line, tableLines } from '../../output/table.js'

interface AgentOptions extends CommonOptions, UrlOptions {
  readonly agent?: string
}

interface ChangeOptions extends CommonOptions, UrlOptions {
  readonly agent: string
}

const VALUE_CHARACTERS = 60

export function registerSettings(program: Command, context: CommandContext): void {
  const group = program.command('settings').description('what holds for agents, and who says so; and change it')

  const list = withAgent(group.command('list').description('list the settings in force, and where each comes from'))
  withCommonOptions(withUrlOption(list), [
    'heddle settings list',
    'heddle settings list --agent coder',
    'heddle settings list --agent coder --json',
  ])
    .addHelpText('after', '\nBy rank: default, heddle.yaml, environment, agent. A request goes over all of them.')
    .action(async (options: AgentOptions) => {
      const items = await holdingSettings(context, options)
      context.printer.result({ agent: options.agent ?? null, items, nextCursor: null }, () => listLines(items))
    })

  const show = withAgent(
    group.command('show').description('show a setting: its value, where it comes from, its default'),
  )
  withCommonOptions(withUrlOption(show.argument('<name>', 'such as budget or prune.keepLastN', knownSetting)), [
    'heddle settings show budget --agent coder',
    'heddle settings show prune.keepLastN --json',
  ]).action(async (name: string, options: AgentOptions) => {
    const all = await holdingSettings(context, options)
    const unset = { name, value: null, from: 'default', source: null, default: null } as const
    const row = all.find((each) => each.name === name) ?? unset
    context.printer.result({ agent: options.agent ?? null, ...row }, () => [
      `${row.name}: ${oneLine(JSON.stringify(row.value), 400)}`,
      `from: ${fromText(row)}`,
      `default: ${oneLine(JSON.stringify(row.default), 400)}`,
    ])
  })

  const set = group
    .command('set')
    .description('give an agent a setting of its own')
    .argument('<name>', 'such as budget or prune.keepLastN', knownSetting)
    .argument('<value>', 'a number, a word, none, or JSON')
    .requiredOption('--agent <name>', 'the agent; made if it does not exist', nameOption('agent'))
  withCommonOptions(withUrlOption(set), [
    'heddle settings set budget 16000 --agent coder',
    'heddle settings set rollingWindow none --agent coder',
    'heddle settings set sandwich.preserveTop 3 --agent coder --json',
  ])
    .addHelpText('after', '\nFor all agents: write it into heddle.yaml below "settings".')
    .action(async (name: string, text: string, options: ChangeOptions) => {
      const value = checkedValue(name, text)
      await change(context, options, name, (settings) => withSetting(settings, name, value))
    })

  const remove = group
    .command('remove')
    .description('take a setting of an agent away, so that what is below it holds')
    .argument('<name>', 'such as budget or prune.keepLastN', knownSetting)
    .requiredOption('--agent <name>', 'the agent', nameOption('agent'))
  withCommonOptions(withUrlOption(remove), ['heddle settings remove budget --agent coder']).action(
    (name: string, options: ChangeOptions) =>
      change(context, options, name, (settings) => withoutSetting(settings, name), { mustExist: true }),
  )
}

function withAgent(command: Command): Command {
  return command.option('--agent <name>', 'with the settings of this agent', nameOption('agent'))
}

/** A parser for the name of a setting, of a single one or of a group. */
function knownSetting(text: string): string {
  const name = settingName(text)
  const result = partialSettingsSchema.safeParse(withSetting({}, name, undefined))
  const isUnknown = !result.success && result.error.issues.some(({ code }) => code === 'unrecognized_keys')
  if (!isUnknown && /^[a-z][\w.-]*$/i.test(name)) return name
  throw unknownSetting('name', name, text)
}

/** @param name as a setting would be called, whose groups are settings, too */
function unknownSetting(field: string, name: string, received: string): UsageError {
  const fields = settingFields().map((each) => each.name)
  const groups = fields.flatMap((each) => (each.includes('.') ? [each.slice(0, each.lastIndexOf('.'))] : []))
  const rule = `is no setting${didYouMean(name, [...fields, ...groups])}`
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
    `heddle settings show ${name} shows what holds now.`,
  )
}

async function change(
  context: CommandContext,
  options: ChangeOptions,
  name: string,
  changed: (settings: PartialSettings) => object,
  { mustExist = false } = {},
): Promise<void> {
  await withRemote(context, options, null, async ({ agents }) => {
    const { changeSettings } = await import('@heddle/engine')
    const change = (settings: PartialSettings) => changed(settings) as PartialSettings
    const agent = await changeSettings(agents, options.agent, change, { mustExist })
    context.printer.result({ agent: agent.name, version: agent.version, name, settings: agent.settings }, () => [
      `agent ${safeText(agent.name)} · version ${agent.version}`,
      `settings: ${oneLine(JSON.stringify(agent.settings), 400)}`,
    ])
  })
}

function listLines(rows: readonly SettingRow[]): Line[] {
  return tableLines(
    [{ title: 'setting' }, { title: 'value' }, { title: 'from' }],
    rows.map((row) => [row.name, oneLine(JSON.stringify(row.value), VALUE_CHARACTERS), fromText(row)]),
  )
}

function fromText({ from, source }: Pick<SettingRow, 'from' | 'source'>): string {
  return source === null ? from : `${from} (${safeText(source)})`
}
