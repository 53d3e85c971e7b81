import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { operations as table } from '@heddle/contracts'
import { expect, onTestFinished, test } from 'vitest'
import { openApiDocument } from '../../services/gateway/src/operate/openapi.js'

interface Answer {
  readonly $ref?: string
  readonly content?: Readonly<Record<string, { schema: { $ref: string } }>>
}
interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly tags: readonly string[]
  readonly responses: Readonly<Record<string, Answer>>
}
interface Document {
  readonly info: { license: { name: string; identifier: string } }
  readonly servers: readonly { url: string }[]
  readonly tags: readonly { name: string; description: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { responses: Readonly<Record<string, Answer>> }
}

const document = openApiDocument(table) as unknown as Document
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${path}`,
    method,
    operation,
  })),
)

test('the OpenAPI document names the address of the gateway, its license, and its groups', () => {
  expect(document.info.license).toEqual({ name: 'MIT', identifier: 'MIT' })
  expect(document.servers).toEqual([{ url: '/', description: expect.stringMatching(/\w/) }])
  const used = operations.flatMap(({ operation }) => operation.tags)
  expect(document.tags.map(({ name }) => name).sort()).toEqual([...new Set(used)].sort())
  for (const { description } of document.tags) expect(description).toMatch(/\.$/)
})

test.each(operations)('$name has an id, a tag, a summary, and its possible error answers', ({ operation, method }) => {
  const { operationId, tags, summary, responses } = operation
  expect([operationId, summary]).toEqual([expect.stringMatching(/^[a-z]\w+$/), expect.stringMatching(/^[A-Z]/)])
  expect(tags).toHaveLength(1)
  const expected = ['400', '401', '403', '404', '429', 'default', ...(method === 'get' ? [] : ['409'])]
  expect(Object.keys(responses)).toEqual(expect.arrayContaining(expected))
  for (const [status, { $ref = '' }] of Object.entries(responses)) {
    if (/^[23]/.test(status)) continue
    const answer = document.components.responses[$ref.replace('#/components/responses/', '')]
    expect(answer?.content).toEqual({
      'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
    })
  }
})

test('no two operations have the same id', () => {
  const ids = operations.map(({ operation }) => operation.operationId)
  expect(new Set(ids).size).toBe(ids.length)
})

test('the OpenAPI document passes the recommended rules of Redocly', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-openapi-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await writeFile(join(folder, 'openapi.json'), JSON.stringify(document))
  const program = join(dirname(createRequire(import.meta.url).resolve('@redocly/cli/package.json')), 'bin', 'cli.js')
  const args = [program, 'lint', 'openapi.json', '--extends', 'recommended', '--format', 'json']
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder, env }).catch((failed) => failed)
  const { totals, problems } = JSON.parse(stdout)
  expect(problems.map(({ ruleId, message }: Record<string, string>) => `${ruleId}: ${message}`)).toEqual([])
  expect(totals).toEqual({ errors: 0, warnings: 0, ignored: 0 })
})
