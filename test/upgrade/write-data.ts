import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Checkout, Place } from './checkout.js'
import type { Corpus } from './corpus.js'
import { openDoor, told } from './door.js'
import { untilSettled } from './settled.js'

/** Names and ids that are needed to read the data again. */
export interface Written {
  readonly adminKey: string
  /** Of the other project, which has a grant to recall from the first. */
  readonly otherKey: string
  readonly revokedKey: string
  /** A time after the contexts were built and before the clear. */
  readonly momentBeforeClear: string
  readonly erasedThread: string
  readonly erasedAgent: string
}

export const OTHER_PROJECT = 'other'

/** Threads of each agent with contexts. */
const THREADS_WITH_CONTEXTS = 8
const formats = ['openai-chat', 'anthropic', 'neutral', 'ai-sdk', 'openai-responses'] as const
const encoded = encodeURIComponent

/** Creates every kind of stored data with a version, and waits until its stages have finished. */
export async function writeData(checkout: Checkout, place: Place, corpus: Corpus): Promise<Written> {
  const up = await checkout.up(place)
  try {
    const { post, put, remove, list } = writer(up.url)
    for (const { agent, budget } of corpus.sessions)
      await put(`/v1/agents/${agent}`, {
        systemPrompt: `You are the ${agent}.`,
        docs: [{ name: 'house rules', text: `Rules of the ${agent}: be exact.` }],
        settings: { rollingWindow: null, budget },
      })
    await writeItems(put, remove)
    for (const { agent, format, files } of corpus.sessions) {
      const through = { ...place, environment: { ...place.environment, HEDDLE_URL: up.url } }
      await checkout.run(through, 'import', ...files, '--agent', agent, '--format', format)
    }
    const threads = await untilSettled(openDoor(up.url, null))
    await post(`/v1/threads/${encoded(threads[0]?.name ?? '')}/messages`, {
      agent: threads[0]?.agent,
      messages: [{ role: 'user', content: 'A NUL \u0000 and a lone \ud800 surrogate stay.', pinned: true }],
    })
    await writeRun(post, put)
    for (const { agent } of corpus.sessions) {
      const own = threads.filter((thread) => thread.agent === agent).slice(0, THREADS_WITH_CONTEXTS)
      for (const [index, { name }] of own.entries()) {
        const request = { message: 'What is left to do?', format: formats[index % formats.length] }
        await post(`/v1/threads/${encoded(name)}/contexts`, request)
        await post(`/v1/threads/${encoded(name)}/contexts`, { ...request, budget: 12_000, format: 'openai-chat' })
      }
    }
    const momentBeforeClear = new Date().toISOString()
    await clearAndRestore(post, 'airline')
    await post('/v1/agents/fixer/snapshots', { description: 'saved and not restored' })
    await post('/v1/agents/fixer/clear', {})
    const [erasedThread, erasedAgent] = ['to be erased', 'to be erased too']
    for (const agent of ['coder', erasedAgent])
      await post(`/v1/threads/${encoded(agent === 'coder' ? erasedThread : 'of an erased agent')}/messages`, {
        agent,
        messages: [{ role: 'user', content: 'This is to go.' }],
      })
    await remove(`/v1/threads/${encoded(erasedThread)}`)
    await checkout.run(place, 'agents', 'remove', erasedAgent, '--yes')
    await untilSettled(openDoor(up.url, null))
    // A context after the clear and the restore.
    for (const { agent, name } of threads.filter((thread) => thread.agent === 'airline' || thread.agent === 'fixer'))
      await post(`/v1/threads/${encoded(name)}/contexts`, { agent, message: 'And now?', format: 'openai-chat' })
    if ((await list('/v1/threads')).length === 0) throw new Error('nothing was imported')
    return { ...(await writeKeys(checkout, place)), momentBeforeClear, erasedThread, erasedAgent }
  } finally {
    await up.stop()
  }
}

type Send = (path: string, body: unknown) => Promise<unknown>

function writer(url: string) {
  const door = openDoor(url, null)
  const send =
    (method: string): Send =>
    (path, body) =>
      told(door.ask(method, path, body))
  return {
    post: send('POST'),
    put: send('PUT'),
    remove: (path: string) => told(door.ask('DELETE', path)),
    list: door.list,
  }
}

async function writeItems(put: Send, remove: (path: string) => Promise<unknown>): Promise<void> {
  const items = '/v1/agents/coder/items'
  await put(`${items}/rule/tests`, { text: 'Write a test first.', include: 'always' })
  await put(`${items}/rule/tests`, { text: 'Write a test first, and see it fail.', include: 'always' })
  await put(`${items}/reference/api`, { text: 'The API has version 2.', description: 'of the API', include: 'agent' })
  await put(`${items}/rule/by%20hand`, { text: 'Only where it was asked for.', include: 'manual' })
  await put(`${items}/rule/gone`, { text: 'Nobody needs this.', include: 'always' })
  await remove(`${items}/rule/gone`)
  await put('/v1/agents/coder/servers/files', { include: 'agent' })
  await put('/v1/agents/coder/servers/files/tools', {
    tools: [{ name: 'read_file', description: 'Reads a file.', inputSchema: { type: 'object', properties: {} } }],
  })
}

/** An autonomous run with its iterations, a process, and an item that was added by hand. */
async function writeRun(post: Send, put: Send): Promise<void> {
  const thread = '/v1/threads/run'
  await put(thread, { agent: 'coder', title: 'A run', goal: 'Ship it', status: 'working' })
  await put(`${thread}/processes/build`, { status: 'compiling' })
  await put(`${thread}/processes/build`, { status: 'done', ended: true })
  await put(`${thread}/items/rule/by%20hand`, {})
  const iterations = Array.from({ length: 12 }, (_, index) => ({
    prompt: `Try number ${index + 1}.`,
    output: `It did ${index + 1} of 12 steps. ${'More of it. '.repeat(40)}`,
    progressScore: (index + 1) / 12,
    fileChanges: [`src/step-${index + 1}.ts`],
  }))
  await post(`${thread}/iterations`, { agent: 'coder', iterations })
}

async function clearAndRestore(post: Send, agent: string): Promise<void> {
  const saved = (await post(`/v1/agents/${agent}/snapshots`, { description: 'before the clear' })) as { id: string }
  await post(`/v1/agents/${agent}/clear`, {})
  await post(`/v1/snapshots/${saved.id}/restore`, {})
}

/** Last of all: from the first key on, the gateway requires one. */
async function writeKeys(
  checkout: Checkout,
  place: Place,
): Promise<Pick<Written, 'adminKey' | 'otherKey' | 'revokedKey'>> {
  const file = join(place.dir, 'note.jsonl')
  await writeFile(file, `${JSON.stringify({ role: 'user', content: 'A note of the other project.' })}\n`)
  await checkout.run(place, 'import', file, '--agent', 'guest', '--project', OTHER_PROJECT)
  await checkout.run(place, 'grants', 'offer', '--to', OTHER_PROJECT)
  await checkout.run(place, 'grants', 'accept', '--from', 'default', '--project', OTHER_PROJECT)
  const create = async (name: string, role: string, ...more: string[]) =>
    (await checkout.run(place, 'keys', 'create', '--name', name, '--role', role, ...more)) as {
      id: string
      key: string
    }
  const revoked = await create('revoked', 'agent')
  await checkout.run(place, 'keys', 'revoke', revoked.id)
  const admin = await create('admin', 'admin')
  const other = await create('other', 'agent', '--project', OTHER_PROJECT)
  return { adminKey: admin.key, otherKey: other.key, revokedKey: revoked.key }
}
