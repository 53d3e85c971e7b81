import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { stageNames } from '@heddle/contracts'
import { parse } from 'yaml'

const chart = fileURLToPath(new URL('../../../infra/helm/heddle/', import.meta.url))
export const chartPagePath = `${chart}README.md`

const BEGIN = '<!-- values: written by npm run docs:chart from values.yaml and values.schema.json -->'
const END = '<!-- end of values -->'

interface Schema {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly enum?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  readonly properties?: Readonly<Record<string, Schema>>
}

/** A value of the chart, which has no named parts. */
interface Leaf {
  readonly path: string
  readonly schema: Schema
  readonly value: unknown
}

export function readChart(): { readonly values: unknown; readonly schema: Schema; readonly page: string } {
  const read = (name: string) => readFileSync(chart + name, 'utf8')
  return {
    values: parse(read('values.yaml')),
    schema: JSON.parse(read('values.schema.json')) as Schema,
    page: read('README.md'),
  }
}

/** Every value, in the order of the schema; `value` is undefined if values.yaml lacks it. */
export function leavesOf(schema: Schema, values: unknown, path = ''): readonly Leaf[] {
  return Object.entries(schema.properties ?? {})
    .filter(([name]) => path !== '' || name !== 'global')
    .flatMap(([name, part]) => {
      const value = (values as Record<string, unknown> | undefined)?.[name]
      const full = path === '' ? name : `${path}.${name}`
      return part.properties === undefined ? [{ path: full, schema: part, value }] : leavesOf(part, value, full)
    })
}

/** Paths in values.yaml that the schema does not describe. */
export function undescribed(schema: Schema, values: unknown, path = ''): readonly string[] {
  return Object.entries(values as Record<string, unknown>).flatMap(([name, value]) => {
    const part = schema.properties?.[name]
    const full = path === '' ? name : `${path}.${name}`
    if (part?.description === undefined) return [full]
    return part.properties === undefined ? [] : undescribed(part, value, full)
  })
}

/** The page with its tables of values written anew. */
export function chartPage(): string {
  const { schema, values, page } = readChart()
  const [head, rest = ''] = page.split(BEGIN)
  const [, tail = ''] = rest.split(END)
  const lines = ['| value | default | |', '| --- | --- | --- |', ...rowsOf(merged(leavesOf(schema, values)))]
  return `${head}${BEGIN}\n\n${lines.join('\n')}\n\n${END}${tail}`
}

interface Row extends Omit<Leaf, 'value'> {
  readonly shown: string
}

/** The values of the stages differ in their defaults alone: one row for all of them. */
function merged(leaves: readonly Leaf[]): readonly Row[] {
  const [first = ''] = stageNames
  return leaves.flatMap(({ path, schema, value }) => {
    const [, stage, rest] = /^stages\.(\w+)\.(.+)$/.exec(path) ?? []
    if (stage === undefined) return [{ path, schema, shown: shownValue(value) }]
    if (stage !== first) return []
    const ofStages = stageNames.map((name) => {
      const leaf = leaves.find((each) => each.path === `stages.${name}.${rest}`)
      return [name, shownValue(leaf?.value)] as const
    })
    const isOne = new Set(ofStages.map(([, shown]) => shown)).size === 1
    const shown = isOne ? shownValue(value) : ofStages.map(([name, each]) => `${name} ${each}`).join(', ')
    return [{ path: `stages.STAGE.${rest}`, schema, shown }]
  })
}

function rowsOf(rows: readonly Row[]): readonly string[] {
  return rows.map(
    ({ path, schema, shown }) => `| \`${path}\` | ${shown} | ${schema.description ?? ''}${allowed(schema)} |`,
  )
}

function shownValue(value: unknown): string {
  return `\`${JSON.stringify(value)}\``
}

function allowed(schema: Schema): string {
  return schema.enum === undefined ? '' : ` One of ${schema.enum.map((each) => `\`${each}\``).join(', ')}.`
}
