import { execFileSync } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@heddle/client/http'
import { spawnNode } from '@heddle/test-support'
import { startWireServer } from '@heddle/test-support/servers/wire-server'
import { waitFor } from '@heddle/test-support/wait-for'
import { expect, onTestFinished, test } from 'vitest'

const CONVERSATIONS = 20
/** Several times what a request waits for Heddle, on a machine that does other things, too. */
const ANSWERED_MS_MAX = 5_000
const RESULT = Array.from({ length: 800 }, (_, line) => `line ${line}: some words of a result`).join('\n')

test('a store that freezes in the middle of conversations delays no reply, and gets what it missed', async () => {
  const upstream = await startWireServer(({ body }, response) => {
    const { messages } = JSON.parse(body.toString()) as { messages: unknown[] }
    const content = [{ type: 'text', text: `reply ${messages.length}` }]
    const reply = { id: `msg_${messages.length}`, type: 'message', role: 'assistant', model: 'm', content }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reply))
  })
  onTestFinished(() => upstream.close())
  const dataDir = await mkdtemp(join(tmpdir(), 'heddle-frozen-'))
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
  const heddle = spawnNode(new URL('../../packages/cli/bin/heddle.js', import.meta.url), {
    parameters: ['up', '--port', '0', '--data', dataDir, '--json'],
    env: { HEDDLE_PROXY_ANTHROPIC_URL: upstream.url, HEDDLE_PROXY_MODE: 'stub', HEDDLE_EMBEDDER: 'hashing' },
    cwd: dataDir,
  })
  // Its Postgres writes to the folder until it has ended.
  onTestFinished(async () => {
    heddle.kill('SIGTERM')
    await heddle.exited
  })
  const [, url = ''] = await heddle.line(/"url": ?"([^"]+)"/, 120_000)
  const client = createClient({ url })
  const ask = (number: number, messages: readonly object[]) =>
    askProvider(`${url}/anthropic`, `thread-${number}`, messages)
  const all = async (steps: number) => {
    const numbers = Array.from({ length: CONVERSATIONS }, (_, number) => number)
    return await Promise.all(numbers.map((number) => ask(number, conversation(steps))))
  }

  // On a busy machine the first requests may come before Heddle knows whose they are.
  await waitFor(
    async () => {
      await all(1)
      return (await client.threads.list({ limit: 100 })).items.length === CONVERSATIONS
    },
    { timeoutMs: 60_000, everyMs: 1_000, what: 'the first messages of every conversation' },
  )
  const pids = await freezePostgres(dataDir)
  onTestFinished(() => signalAll(pids, 'CONT'))
  for (const steps of [2, 3, 4]) {
    for (const { status, text, tookMs } of await all(steps)) {
      expect([status, text]).toEqual([200, `reply ${steps * 2 + 1}`])
      expect(tookMs).toBeLessThan(ANSWERED_MS_MAX)
    }
  }
  signalAll(pids, 'CONT')
  // Of each conversation the result was sent itself, since it could not be stored before.
  const metrics = await (await fetch(`${url}/metrics`)).text()
  expect(Number(/heddle_proxy_passed_total\{reason="not-stored"\} (\d+)/.exec(metrics)?.[1])).toBe(CONVERSATIONS)

  // Each conversation goes on until its thread has everything: a store is not asked again for a moment after a failure.
  const expected = conversation(5).length + 1
  await waitFor(
    async () => {
      await all(5)
      const { items } = await client.threads.list({ limit: 100 })
      const counts = await Promise.all(
        items.map(async ({ name }) => (await client.messages.list({ thread: name })).items.length),
      )
      return counts.length === CONVERSATIONS && counts.every((count) => count >= expected)
    },
    { timeoutMs: 60_000, everyMs: 1_000, what: 'the messages of every conversation' },
  )
  const { items } = await client.messages.list({ thread: 'thread-0' })
  const contents = items.map(({ role, content }) => `${role} ${content}`)
  for (const step of [1, 2, 3, 4]) expect(contents.filter((each) => each === `user step ${step}`)).toHaveLength(1)
  expect(contents.filter((each) => each === `tool_result ${RESULT}`)).toHaveLength(1)
}, 180_000)

/** Reads a large file first, and then asks one question after the other. */
function conversation(steps: number): object[] {
  const call = { type: 'tool_use', id: 'toolu_1', name: 'read', input: {} }
  const messages: object[] = [{ role: 'user', content: 'Read it.' }]
  for (let step = 1; step <= steps; step++) {
    if (step === 2) {
      messages.push({ role: 'assistant', content: [{ type: 'text', text: 'reply 3' }, call] })
      messages.push({
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: RESULT }, said(step)],
      })
    } else
      messages.push({ role: 'assistant', content: `reply ${messages.length}` }, { role: 'user', content: [said(step)] })
  }
  return messages
}

const said = (step: number) => ({ type: 'text', text: `step ${step}` })

async function askProvider(base: string, thread: string, messages: readonly object[]) {
  const startedMs = performance.now()
  const answer = await fetch(`${base}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-heddle-thread': thread, 'x-api-key': 'sk' },
    body: JSON.stringify({ model: 'm', max_tokens: 10, messages }),
  })
  const { content } = (await answer.json()) as { content: { text: string }[] }
  return { status: answer.status, text: content[0]?.text, tookMs: performance.now() - startedMs }
}

/** Stops the Postgres in a data folder without ending it: its server first, which then starts no process for a connection. */
async function freezePostgres(dataDir: string): Promise<number[]> {
  const files = await readdir(dataDir, { recursive: true })
  const file = files.find((path) => path.endsWith('postmaster.pid'))
  const [server = ''] = (await readFile(join(dataDir, file ?? ''), 'utf8')).split('\n')
  signalAll([Number(server)], 'STOP')
  const children = execFileSync('ps', ['-o', 'pid=', '--ppid', server], { encoding: 'utf8' }).trim().split(/\s+/)
  const pids = [server, ...children].map(Number)
  signalAll(pids, 'STOP')
  return pids
}

function signalAll(pids: readonly number[], signal: 'STOP' | 'CONT'): void {
  for (const pid of pids) {
    try {
      process.kill(pid, `SIG${signal}`)
    } catch {
      // A connection may have ended meanwhile.
    }
  }
}
