import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createClient } from '@heddle/client/http'
import { startProtocolServer } from '@heddle/test-support/servers/protocol-server'
import { command } from './command.js'
import { readmeBlock } from './readme.js'

export const OPENCODE_PACKAGE = 'opencode-ai@1.18.33'

const PROMPT = 'The login fails.'
const REPLY = 'The token has expired.'

export interface OpenCodeOptions {
  /** With the checkout that the README names. */
  readonly folder: string
  readonly env: NodeJS.ProcessEnv
  readonly heddleUrl: string
  /** The port in the README; another one replaces it where that is in use. */
  readonly readmePort: number
}

/** Runs OpenCode with the configuration in the plugin's README, unchanged: a prompt, and the server of MCP. */
export async function runOpenCode({ folder, env: given, heddleUrl, readmePort }: OpenCodeOptions) {
  const readmeUrl = `http://127.0.0.1:${readmePort}`
  const provider = await startProtocolServer(() => ({ kind: 'text', text: REPLY }))
  try {
    const configuration = await readmeBlock('plugins/opencode', 'json')
    await writeFile(join(folder, 'opencode.json'), configuration.replaceAll(readmeUrl, heddleUrl))
    await writeUserConfiguration(String(given['HOME']), provider.openAiUrl)
    // As a shell sets it: OpenCode takes its folder from there.
    const env = { ...given, ...OFFLINE, PWD: folder, ...(heddleUrl !== readmeUrl && { HEDDLE_URL: heddleUrl }) }
    const run = async (...line: readonly string[]) => (await command(line, { cwd: folder, env })).stdout
    const servers = await run('opencode', 'mcp', 'list')
    assert.match(servers, /heddle[^\n]*connected/)
    // It puts quotes around an argument with spaces.
    assert.ok((await run('opencode', 'run', ...PROMPT.split(' '))).includes(REPLY))
    const { items } = await createClient({ url: heddleUrl }).messages.ofAgent({ agent: 'opencode', order: 'asc' })
    const said = items.map(({ role, content }) => [role, content])
    assert.deepEqual(said, [
      ['user', PROMPT],
      ['assistant', REPLY],
    ])
    return { isUnchanged: heddleUrl === readmeUrl, recorded: said.length, requests: provider.requests.length }
  } finally {
    await provider.close()
  }
}

/** OpenCode would fetch a list of models, servers of languages and plugins of its own. */
const OFFLINE = {
  OPENCODE_DISABLE_MODELS_FETCH: '1',
  OPENCODE_DISABLE_AUTOUPDATE: '1',
  OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
}

/** The model of the user is a scripted one on this machine. */
async function writeUserConfiguration(home: string, baseURL: string): Promise<void> {
  const folder = join(home, '.config/opencode')
  await mkdir(folder, { recursive: true })
  const model = 'scripted/model'
  const options = { baseURL, apiKey: 'none' }
  const provider = { scripted: { npm: '@ai-sdk/openai-compatible', options, models: { model: { name: 'Model' } } } }
  const configuration = { model, small_model: model, provider, share: 'disabled' }
  await writeFile(join(folder, 'opencode.json'), JSON.stringify(configuration))
}
