import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { pluginFolder } from './run-hooks.js'

interface Sent {
  readonly key: string | undefined
  readonly hook_event_name?: string
  readonly prompt?: string
  readonly tool_name?: string
  readonly tool_input?: unknown
}

/** A gateway that answers 200 until `answers` changes it. */
export async function startServer() {
  const sent: Sent[] = []
  let answer = (response: ServerResponse, _event: Sent): unknown => response.end('{}')
  const server = createServer(async (incoming, response) => {
    const pieces: Buffer[] = []
    for await (const piece of incoming) pieces.push(piece as Buffer)
    const event = { key: incoming.headers['x-heddle-key'], ...JSON.parse(Buffer.concat(pieces).toString()) } as Sent
    sent.push(event)
    answer(response, event)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const prompts = () => sent.flatMap(({ prompt }) => (prompt === undefined ? [] : [prompt]))
  const answers = (next: typeof answer) => {
    answer = next
  }
  return { url, sent, prompts, answers }
}
export const status = (code: number) => (response: ServerResponse) => response.writeHead(code).end('{}')

/** @param given.command of a hook. Default: the script of Node alone */
export async function startAgent({
  session = 's',
  command = [process.execPath, `${pluginFolder}/hooks/send.mjs`],
  path = process.env['PATH'] ?? '',
}: {
  session?: string
  command?: readonly [string, ...string[]]
  path?: string
} = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-hooks-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const start = (event: object, url: string, key = '', input = JSON.stringify({ session_id: session, ...event })) => {
    const env = { PATH: path, PLUGIN_ROOT: pluginFolder, PLUGIN_DATA: folder, HEDDLE_URL: url, HEDDLE_KEY: key }
    const [program, ...parameters] = command
    const child = spawn(program, parameters, { env, stdio: ['pipe', 'pipe', 'inherit'] })
    child.stdin.end(input)
    return child
  }
  const run = async (event: object, url: string, key = ''): Promise<string | null> => {
    const child = start(event, url, key)
    let text = ''
    child.stdout.on('data', (piece: Buffer) => {
      text += piece
    })
    expect(await once(child, 'close')).toEqual([0, null])
    return text === '' ? null : (JSON.parse(text) as { systemMessage: string }).systemMessage
  }
  const prompt = (text: string, url: string, key = '') =>
    run({ hook_event_name: 'UserPromptSubmit', prompt: text }, url, key)
  const files = async () => {
    const names = await readdir(folder, { recursive: true })
    return names.filter((name) => /\.json/.test(name)).map((name) => join(folder, name))
  }
  /** The moment of the next attempt has come. */
  const isDue = async () => {
    for (const path of await files()) {
      if (!path.endsWith('.json')) continue
      const state = JSON.parse(await readFile(path, 'utf8')) as { sinceMs?: number }
      if (state.sinceMs !== undefined) await writeFile(path, JSON.stringify({ ...state, triedMs: 0 }))
    }
  }
  return { folder, start, run, prompt, files, isDue }
}
