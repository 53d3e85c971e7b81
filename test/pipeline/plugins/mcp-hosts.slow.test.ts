import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { type Served, servePipeline } from '../doors/http-support.js'
import type { Pipeline } from '../support.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))

let pipeline: Pipeline
let http: Served
/** Has `heddle`, as an installation does. */
let bin: string

servePipeline((opened) => {
  ;({ pipeline, http } = opened)
})
beforeAll(async () => {
  bin = await mkdtemp(join(tmpdir(), 'heddle-bin-'))
  await symlink(`${root}packages/cli/bin/heddle.js`, join(bin, 'heddle'))
})
afterAll(() => rm(bin, { recursive: true, force: true }))

const command = { command: z.string(), args: z.array(z.string()), env: z.record(z.string(), z.string()) }
const servers = z.strictObject({ heddle: z.strictObject(command) })

/** Where each host reads its servers, and how it writes variables of the environment. */
const hosts = [
  { host: 'Claude Code', form: z.strictObject({ mcpServers: servers }), variable: /\$\{(\w+)(?::-\w*)?\}/g },
  { host: 'Cursor', form: z.strictObject({ mcpServers: servers }), variable: /\$\{env:(\w+)\}/g },
  {
    host: 'VS Code',
    form: z.strictObject({
      servers: z.strictObject({ heddle: z.strictObject({ type: z.literal('stdio'), ...command }) }),
    }),
    variable: /\$\{env:(\w+)\}/g,
  },
  // It has no variables, and its servers have its environment.
  { host: 'Zed', form: z.strictObject({ context_servers: servers }), variable: null },
]

/** The configuration that the page has for a host. */
async function snippetOf(host: string): Promise<unknown> {
  const page = await readFile(`${root}docs/mcp.md`, 'utf8')
  const section = page.slice(page.indexOf(`\n${host}, `, page.indexOf('## Hosts')))
  const [, snippet = ''] = /```json\n([\s\S]*?)```/.exec(section) ?? []
  return JSON.parse(snippet)
}

test.each(hosts)(
  '$host starts the server with the configuration of the page, and calls a tool',
  async ({ host, form, variable }) => {
    const { key } = await pipeline.clientOf('tests').keys.create({ name: host, role: 'admin' })
    const [{ heddle: server }] = Object.values(form.parse(await snippetOf(host))) as [
      { heddle: z.infer<typeof servers>['heddle'] },
    ]
    const surroundings: Record<string, string> = {
      PATH: [bin, dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter),
      HEDDLE_KEY: key,
    }
    const filled = (text: string) =>
      variable === null ? text : text.replace(variable, (_, name: string) => surroundings[name] ?? '')
    const env = Object.fromEntries(Object.entries(server.env).map(([name, value]) => [name, filled(value)]))
    // The gateway of this test is at another address.
    const args = server.args.map((arg) => arg.replace('http://127.0.0.1:4680', http.url))
    const { PATH = '' } = surroundings
    const given = { PATH, ...(variable === null ? surroundings : {}), ...env }
    const client = new Client({ name: host, version: '1' })
    await client.connect(new StdioClientTransport({ command: server.command, args, env: given, stderr: 'pipe' }))
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['recall', 'search', 'pin', 'why']))
    const answer = await client.callTool({ name: 'list_threads', arguments: {} })
    expect(answer.isError ?? false).toBe(false)
    await client.close()
  },
)
