import { expect, onTestFinished, test } from 'vitest'
import { startProtocolServer } from '../../support/src/servers/protocol-server.js'
import { findWords } from '../canaries.js'
import { openDatabaseHome } from '../cli/cli-support.js'

/** The data that users give to Heddle, each part with a word that occurs nowhere else. */
const words = {
  message: 'heronquartz',
  toolCall: 'lanternmoss',
  toolResult: 'saffronkeel',
  systemPrompt: 'juniperslate',
  status: 'walnutcomet',
  description: 'meadowflint',
  summary: 'orchidbasalt',
  query: 'pewterfinch',
  thread: 'ivorygannet',
  providerKey: 'velvetharrier',
  iteration: 'marblesparrow',
}
/** A refusal may repeat the name in its request; no other output may. */
const names = [words.thread]

async function openServed() {
  const provider = await startProtocolServer(({ number }) =>
    // The first answer fails because of the provider's response, the others hang.
    number === 1 ? { kind: 'status', status: 500 } : { kind: 'text', text: `They spoke of the ${words.summary}.` },
  )
  onTestFinished(() => provider.close())
  const home = await openDatabaseHome({
    HEDDLE_LOG_LEVEL: 'trace',
    OPENAI_API_KEY: `sk-${words.providerKey}`,
    OPENAI_BASE_URL: provider.openAiUrl,
  })
  const running = home.start(['up', '--port', '0', '--json'])
  const { url } = JSON.parse(await running.firstLine) as { url: string }
  // A pool beside it, which processes every second job.
  const worker = home.start(['worker', 'all', '--port', '0', '--json'])
  const { port } = JSON.parse(await worker.firstLine) as { port: number }
  const { key } = (await home.heddle('keys', 'create', '--name', 'canary', '--role', 'admin', '--json')).document
  return { provider, home, running, worker, poolUrl: `http://127.0.0.1:${port}`, url, key: key as string }
}

test('no text of users and no key is in the logs, metrics and refusals of processes at the most verbose log level', async () => {
  const { provider, home, running, worker, poolUrl, url, key } = await openServed()
  const refusals: string[] = []
  const ask = async (method: string, path: string, body?: unknown, bearer = key) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${bearer}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) refusals.push(text)
    return { status: response.status, text }
  }
  const thread = `/v1/threads/${words.thread}`
  const settings = { budget: 3_000, rollingWindow: null, summarizationProvider: 'openai' }
  await ask('PUT', '/v1/agents/coder', { systemPrompt: words.systemPrompt, settings })
  await ask('PUT', thread, { agent: 'coder', goal: words.status })
  const call = { id: 'call', name: 'bash', arguments: { command: words.toolCall } }
  const filler = 'and the boat went on along the coast '.repeat(20)
  const messages = [
    { role: 'user', content: words.message },
    { role: 'assistant', content: '', toolCalls: [call] },
    { role: 'tool_result', content: words.toolResult, toolCallId: 'call', toolName: 'bash' },
    ...Array.from({ length: 60 }, (_, index) => ({
      role: index % 2 === 0 ? 'user' : 'assistant',
      content: `${words.message} ${index} ${filler}`,
    })),
  ]
  expect((await ask('POST', `${thread}/messages`, { agent: 'coder', messages })).status).toBe(200)
  await ask('POST', `${thread}/iterations`, { agent: 'coder', iterations: [{ prompt: words.iteration, output: 'x' }] })
  const built: string[] = []
  const build = async () => {
    const { text } = await ask('POST', `${thread}/contexts`, { message: words.message, strategy: 'sandwich' })
    built.push(text)
    return text
  }
  await expect.poll(build, { timeout: 30_000, interval: 300 }).toContain(words.summary)
  await ask('POST', '/v1/search', { query: words.query })
  await ask('POST', '/v1/agents/coder/snapshots', { description: words.description })
  const rpc = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'history', arguments: { thread: words.query } },
  }
  await ask('POST', '/mcp', rpc)

  // Every kind of refusal, each of a value with a canary word.
  const [id] = ['018f0000-0000-7000-8000-000000000001']
  const sent = (content: unknown, more = {}) => ({ agent: 'coder', messages: [{ id, role: 'user', content, ...more }] })
  const path = `${thread}/messages`
  await ask('POST', path, sent(words.message))
  expect((await ask('POST', path, sent(`${words.message} changed`))).status).toBe(409)
  expect((await ask('POST', path, sent({ text: words.message }))).status).toBe(400)
  expect((await ask('POST', path, sent([words.message]))).status).toBe(400)
  expect((await ask('POST', path, `{"messages":[{"content":"${words.message}"`)).status).toBe(400)
  expect((await ask('POST', path, sent('x', { toolCalls: [{ ...call, id: 7 }] }))).status).toBe(400)
  expect((await ask('POST', path, sent(`${words.message} ${'x'.repeat(5_000_000)}`))).status).toBeGreaterThanOrEqual(
    400,
  )
  for (const wrong of [
    { content: `${words.message}\0` },
    { content: 'x', metadata: words.message },
    { content: 'x', metadata: { a: `${words.message}\ud800` } },
    { content: 'x', thinking: words.message },
    { content: 'x', toolCalls: words.toolCall },
    { content: 'x', toolCalls: [{ ...call, arguments: words.toolCall }], toolCallId: 7 },
    { content: 'x', usage: words.message },
    { content: 'x', [`${words.message} \u202e`]: 1 },
  ]) {
    await ask('POST', path, { agent: 'coder', messages: [{ id, role: 'user', ...wrong }] })
  }
  for (const wrong of [
    { systemPrompt: [words.systemPrompt] },
    { docs: words.systemPrompt },
    { settings: words.message },
  ]) {
    expect((await ask('PUT', '/v1/agents/coder', wrong)).status).toBe(400)
  }
  expect((await ask('PUT', thread, { agent: 'coder', goal: `${words.status}\0` })).status).toBe(400)
  expect((await ask('PUT', `${thread}/processes/p`, { status: `${words.status}\0` })).status).toBe(400)
  const item = '/v1/agents/coder/items/tool/t'
  expect((await ask('PUT', item, { text: words.message })).status).toBe(400)
  expect((await ask('PUT', item, { inputSchema: words.message })).status).toBe(400)
  expect((await ask('POST', `${thread}/contexts`, { message: [words.message] })).status).toBe(400)
  expect((await ask('POST', '/v1/search', { query: [words.query] })).status).toBe(400)
  expect((await ask('POST', '/v1/search', { query: 'x', kinds: words.query })).status).toBe(400)
  const iterations = [{ prompt: words.iteration, output: 7, fileEvents: words.iteration }]
  expect((await ask('POST', `${thread}/iterations`, { agent: 'coder', iterations })).status).toBe(400)
  expect((await ask('POST', '/v1/recall', { ref: `msg-00000000`, thread: words.thread })).status).toBe(404)
  expect((await ask('GET', '/v1/agents', undefined, `${key.slice(0, -4)}AAAA`)).status).toBe(401)
  expect((await ask('GET', `/v1/threads/${words.thread}-nowhere`)).status).toBe(404)
  await ask('POST', path, { ...sent(`${words.message} queued`), ack: 'queued' })
  // Commands, at the store and over HTTP: their results go to standard output, their logs to standard error.
  const commands: string[] = []
  for (const cli of [home, home.under({ HEDDLE_URL: url, HEDDLE_KEY: key })]) {
    for (const argv of [
      ['context', 'build', '--agent', 'coder', '--thread', words.thread, '--message', words.message],
      ['search', words.query, '--agent', 'coder'],
      ['context', 'save', '--agent', 'coder', '--description', words.description],
      ['agents', 'set', 'coder', '--prompt', words.systemPrompt],
      ['threads', 'set', words.thread, '--agent', 'coder', '--goal', words.status],
      ['recall', 'msg-00000000', '--thread', words.thread, '--search', words.query],
      ['context', 'build', '--agent', 'coder', '--thread', words.thread, '--message', words.message, '--budget', '1'],
      ['settings', 'set', 'model', words.message, '--agent', 'nobody', '--url', 'nowhere'],
    ]) {
      commands.push((await cli.heddle(...argv, '--json')).stderr)
    }
  }
  // Each process counts its own calls.
  const ofPool = await (await fetch(`${poolUrl}/metrics`)).text()
  const metrics = `${(await ask('GET', '/metrics')).text}${ofPool}`
  running.kill('SIGTERM')
  worker.kill('SIGTERM')
  const { stdout, stderr, code } = await running.ended
  const pool = await worker.ended

  const secrets = [...Object.values(words), key, key.slice(-40)]
  expect(code).toBe(0)
  expect(stderr.split('\n').length).toBeGreaterThan(50)
  expect([pool.code, pool.stderr.includes('"stage":"embed"')]).toEqual([0, true])
  const written = { stdout, log: stderr, metrics, pool: [pool.stdout, pool.stderr] }
  expect([...findWords(written, secrets)]).toEqual([])
  expect(metrics).toMatch(/heddle_model_calls_total\{model="openai [^"]+",outcome="failed"\} [1-9]/)
  expect(metrics).toMatch(/heddle_model_tokens_total\{model="openai [^"]+",direction="input"\} [1-9]/)
  expect(commands.filter((said) => said !== '').length).toBeGreaterThan(3)
  expect(refusals.length).toBeGreaterThan(8)
  const said = secrets.filter((secret) => !names.includes(secret))
  expect([...findWords([refusals, commands], said)]).toEqual([])
  // The canary words were there to be found.
  expect([...findWords([built, provider.requests], secrets)].sort()).toEqual(
    expect.arrayContaining([words.message, words.summary, words.systemPrompt, words.providerKey].sort()),
  )
}, 120_000)
