import { readFile, writeFile } from 'node:fs/promises'
import { gunzipSync } from 'node:zlib'
import { createClient } from '@heddle/client/http'
import { projectIdOf, threadIdOf } from '@heddle/core'
import { insertDeadLetter, openStore } from '@heddle/store'
import { expect, vi } from 'vitest'
import { type DatabaseHome, openDatabaseHome, type Running } from '../pipeline/cli/cli-support.js'
import { HOSTILE } from './hostile-text.js'
import { relayCompared, relayRequests } from './relayed-requests.js'

const SESSION = new URL('../../packages/cli/assets/demo-session.jsonl.gz', import.meta.url)
export const THREAD = 'overview'
export const AGENT = 'coder'

export interface RecordedThread {
  readonly home: DatabaseHome
  readonly url: string
  readonly client: ReturnType<typeof createClient>
  /** Waits until a thread's compactions have their summary. */
  settled(thread: string): Promise<void>
  close(): Promise<void>
}

/**
 * `heddle up` with the session of the demo, items of an agent, and a reply to a context.
 *
 * @param environment variables of `heddle up` besides
 */
export async function startRecordedThread(environment: Readonly<Record<string, string>> = {}): Promise<RecordedThread> {
  const home = await openDatabaseHome(environment)
  const up: Running = home.start(['up', '--port', '0', '--json'])
  const { url } = JSON.parse(await up.firstLine) as { readonly url: string }
  const client = createClient({ url })
  await writeFile(home.path('overview.jsonl'), gunzipSync(await readFile(SESSION)))
  await client.agents.put(AGENT, {
    systemPrompt: 'You are a coding agent. Read before you change anything.',
    settings: { rollingWindow: null, budget: 16_000 },
  })
  await putItems(client)
  // Small leaves, so that a short thread has summaries of summaries.
  const settings = { strategy: 'tree', tree: { leafTokens: 2_000, fanOut: 4 } }
  await client.threads.put(THREAD, { agent: AGENT, title: 'An overview of the code', settings })
  const imported = await home.heddle('import', home.path('overview.jsonl'), '--agent', AGENT, '--thread', THREAD)
  if (imported.code !== 0) throw new Error(imported.stderr)
  // A context built before the compaction would show no summary.
  await settled(client, THREAD)
  await client.items.addToThread(THREAD, { type: 'rule', name: 'error-handling' })
  await client.contexts.build({ thread: THREAD, budget: 12_000, format: 'anthropic' })
  const message = 'Where are the rules of pruning, and which tests hold them?'
  const context = await client.contexts.build({ thread: THREAD, budget: 16_000, format: 'anthropic', message })
  await client.messages.append({
    agent: AGENT,
    thread: THREAD,
    contextId: context.id,
    messages: [
      { role: 'user', content: message },
      { role: 'assistant', content: 'In packages/core/src/pruning; the tests are beside them.' },
    ],
  })
  await client.messages.append({
    agent: AGENT,
    thread: 'hostile',
    messages: [
      { role: 'user', content: HOSTILE },
      { role: 'assistant', content: 'x'.repeat(4_000_000) },
    ],
  })
  await leaveDeadLetter(home.databaseUrl)
  await relayRequests({ client, databaseUrl: home.databaseUrl }, THREAD)
  await relayCompared(home)
  return {
    home,
    url,
    client,
    settled: (thread) => settled(client, thread),
    async close() {
      up.kill('SIGTERM')
      await up.ended
    },
  }
}

/** A job of the summarize stage that failed permanently, with a reason that a page must not run. */
async function leaveDeadLetter(url: string): Promise<void> {
  const store = openStore({ url, connectionsMax: 1, applicationName: 'inspector test' })
  const projectId = projectIdOf('default')
  const threadId = threadIdOf(projectId, THREAD)
  try {
    await store.inProject(projectId, async (tx) => {
      const error = { code: 'INTERNAL' as const, detail: HOSTILE.slice(0, 300) }
      const job = { stage: 'summarize', jobId: 'x'.repeat(200), threadId, payload: { projectId, threadId } }
      await insertDeadLetter(tx, { ...job, error, attempts: 8 })
    })
  } finally {
    await store.close()
  }
}

async function putItems({ items }: RecordedThread['client']): Promise<void> {
  const text = 'Rules of pruning and of tests: read them first.'
  const put = (
    type: 'rule' | 'reference',
    name: string,
    include: 'always' | 'manual' | 'agent',
    priorityLevel?: number,
  ) => items.put(AGENT, { type, name, text, include, priorityLevel, description: `How to use ${name} here` })
  await put('rule', 'authentication-rules', 'always', 1)
  await put('rule', 'error-handling', 'manual', 2)
  await put('rule', 'tests-of-pruning-rules', 'agent', 3)
  await put('rule', 'billing', 'agent')
  await put('reference', 'api-documentation', 'always', 1)
  await put('reference', 'database-schema', 'agent', 2)
  const tools = [{ name: 'read_file', description: 'Read a file' }]
  await items.sync(AGENT, 'filesystem', tools, { include: 'always' })
}

async function settled({ threads }: RecordedThread['client'], thread: string): Promise<void> {
  await vi.waitFor(
    async () => {
      const { headSeq, cursors } = await threads.get(thread)
      expect([cursors.prune, cursors.summarize]).toEqual([headSeq, headSeq])
    },
    { timeout: 60_000, interval: 200 },
  )
}
