import { fileURLToPath } from 'node:url'
import { defaultSettings, type Settings, settingsSchema } from '@heddle/contracts'
import { type Provider, providers } from '../../../packages/models/src/chat/providers.js'
import { variables } from '../../../packages/runtime/src/config/environment.js'
import { loadConfig } from '../../../packages/runtime/src/config/load.js'
import { rawConfigSchema } from '../../../packages/runtime/src/config/schema.js'
import { commentsOf } from './comments.js'
import { type Field, fieldsOf } from './fields.js'
import { defaults, descriptions, otherVariables } from './words.js'

const inRepository = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url))

export const pagePath = inRepository('docs/configuration.md')

/** Parts of the file that have their own tables or none. */
const elsewhere = ['settings', 'tools']

/** The page, generated from the program's schemas, defaults and comments. */
export function configurationPage(): string {
  const config = fieldsOf(rawConfigSchema).filter(({ path }) => !elsewhere.includes(path.split('.')[0] ?? ''))
  const configComments = commentsOf(inRepository('packages/runtime/src/config/schema.ts'), 'rawConfigSchema')
  const settingComments = commentsOf(inRepository('packages/contracts/src/settings/settings.ts'), 'settingsSchema', {
    selectionShape: inRepository('packages/contracts/src/items/items.ts'),
  })
  const configDefaults = loadConfig({ env: {}, cwd: '/' })
  const variableOf = new Map(Object.entries(variables).map(([name, path]) => [path.join('.'), name]))
  return `${[
    '# Configuration',
    '<!-- Made by `npm run docs:configuration` from the schemas. Change those, and their comments. -->',
    'Settings of a process are read from `heddle.yaml` in its working directory, then from the environment, then from options of',
    'the command line; later sources override earlier ones. Those of an agent come from `settings` of the first two, then from the agent',
    '(`heddle settings set`, `PUT /v1/agents/:agent`), then from a request. `heddle settings list` shows effective settings and their source,',
    'and `heddle doctor` checks them. An unknown name or an invalid value is refused at the start, with its place.',
    '',
    '## The process',
    'In `heddle.yaml` a dot means nesting: `queue.ingestJobsMax` is `ingestJobsMax` below `queue`.',
    '',
    table(
      ['key', 'variable', 'type', 'default', 'bounds', 'what it does'],
      config.map((field) => [
        code(field.path),
        code(variableOf.get(field.path) ?? ''),
        field.type,
        defaults[field.path] ?? shownValue(at(configDefaults, field.path)),
        field.bounds,
        describe(field, configComments),
      ]),
    ),
    '',
    'In a variable, list entries are separated by commas, and `none` means `null`. An empty variable counts as not set. `tools` in',
    'the file is the same as `settings.tools`, at the top level because the list may be long.',
    '',
    '## Other variables',
    table(
      ['variable', 'what it does'],
      [...otherVariables.map(({ name, description }) => [code(name), description]), ...providers.flatMap(variablesOf)],
    ),
    '',
    '## Settings of agents',
    'Below `settings` in the file, and in the settings of an agent. A request may override `model`, `budget` and `strategy`.',
    '',
    table(
      ['setting', 'variable', 'type', 'default', 'bounds', 'what it does'],
      fieldsOf(settingsSchema).map((field) => [
        code(field.path),
        code(variableOf.get(`settings.${field.path}`) ?? ''),
        field.type,
        shownValue(at(defaultSettings satisfies Settings, field.path)),
        field.bounds,
        describe(field, settingComments),
      ]),
    ),
  ].join('\n')}\n`
}

function variablesOf({ name, keyVariables, baseUrlVariable }: Provider): string[][] {
  return [
    ...keyVariables.map((variable) => [
      code(variable),
      `The key of ${name}, for summaries ([summaries](summaries.md)).`,
    ]),
    [code(baseUrlVariable), `Another address of ${name}, such as that of a proxy.`],
  ]
}

/** @throws Error if a field has no description */
function describe({ path }: Field, comments: ReadonlyMap<string, string>): string {
  const text = descriptions[path] ?? comments.get(path)
  if (text === undefined)
    throw new Error(`${path} has no description: add a comment to its schema, or an entry in ${import.meta.url}`)
  return text
}

function at(values: object, path: string): unknown {
  return path.split('.').reduce<unknown>((value, key) => {
    return value !== null && typeof value === 'object' && key in value
      ? (value as Record<string, unknown>)[key]
      : undefined
  }, values)
}

function shownValue(value: unknown): string {
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return 'none'
  return typeof value === 'number' ? code(String(value)) : code(JSON.stringify(value).replace(/^"(.*)"$/, '$1'))
}

function code(text: string): string {
  return text === '' ? '' : `\`${text}\``
}

function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(titles), line(titles.map(() => '---')), ...rows.map(line)].join('\n')
}
