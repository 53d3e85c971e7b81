import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startAgent, startServer, status } from './hook-processes.js'

test('a hook that is killed loses nothing of what was kept', async () => {
  const [server, agent] = [await startServer(), await startAgent()]
  server.answers(status(503))
  await agent.prompt('first', server.url)
  await agent.prompt('second', server.url)
  await agent.isDue()
  const asked = new Promise<void>((resolve) => {
    server.answers((response, { prompt }) => (prompt === undefined ? response.end('{}') : resolve()))
  })
  const child = agent.start({ hook_event_name: 'Stop' }, server.url)
  await asked
  child.kill('SIGKILL')
  await once(child, 'close')
  server.sent.length = 0
  server.answers((response) => response.end('{}'))
  expect(await agent.prompt('third', server.url)).toBeNull()
  expect(server.prompts()).toEqual(['first', 'second', 'third'])
  expect(await agent.files()).toEqual([])
})

test('a hook ends before it is killed, however long Heddle takes, and keeps what it could not send', async () => {
  const [server, agent] = [await startServer(), await startAgent()]
  server.answers(status(503))
  await agent.prompt('first', server.url)
  await agent.isDue()
  server.answers((response, { prompt, hook_event_name: name }) => {
    if (prompt === undefined && name === undefined) response.end('{}')
  })
  const startedMs = performance.now()
  expect(await agent.run({ hook_event_name: 'SessionEnd' }, server.url)).toBeNull()
  expect(performance.now() - startedMs).toBeLessThan(3_000)
  await agent.isDue()
  server.answers((response) => response.end('{}'))
  server.sent.length = 0
  await agent.prompt('second', server.url)
  expect(server.prompts()).toEqual(['first', 'second'])
})

test('what was kept for one destination is not sent to another', async () => {
  const [server, other, agent] = [await startServer(), await startServer(), await startAgent()]
  server.answers(status(503))
  await agent.prompt('of a', server.url, 'key-a')
  server.answers((response) => response.end('{}'))
  server.sent.length = 0
  await agent.prompt('of b', server.url, 'key-b')
  await agent.prompt('of c', other.url, 'key-a')
  expect([server.prompts(), other.prompts()]).toEqual([['of b'], ['of c']])
  await agent.isDue()
  await agent.prompt('again', server.url, 'key-a')
  expect(server.sent.filter(({ key }) => key === 'key-a').flatMap(({ prompt }) => prompt ?? [])).toEqual([
    'of a',
    'again',
  ])
})

test('a torn line costs no other', async () => {
  const [server, agent] = [await startServer(), await startAgent()]
  server.answers(status(503))
  await agent.prompt('first', server.url)
  const [path = ''] = (await agent.files()).filter((each) => each.endsWith('.jsonl'))
  await writeFile(path, `{"attempts":0,"event":{"pro\n${await readFile(path, 'utf8')}`)
  await agent.isDue()
  server.answers((response) => response.end('{}'))
  await agent.prompt('second', server.url)
  expect(server.prompts().slice(-2)).toEqual(['first', 'second'])
})

test('an event that always fails holds back no other, and is given up once it failed three times', async () => {
  const [server, agent] = [await startServer(), await startAgent()]
  server.answers(status(503))
  await agent.prompt('poison', server.url)
  await agent.prompt('first', server.url)
  await agent.isDue()
  server.answers((response, { prompt }) => status(prompt === 'poison' ? 500 : 200)(response))
  server.sent.length = 0
  expect(await agent.prompt('second', server.url)).toBeNull()
  expect(server.prompts()).toEqual(['poison', 'first', 'second'])
  expect(await agent.prompt('third', server.url)).toBeNull()
  expect(await agent.prompt('fourth', server.url)).toContain('could not record 1 earlier')
  server.sent.length = 0
  await agent.prompt('fifth', server.url)
  expect(server.prompts()).toEqual(['fifth'])
})

test('a refusal is no outage: it is said once, and words are kept where the key or address is refused', async () => {
  const [server, agent] = [await startServer(), await startAgent()]
  server.answers(status(401))
  expect(await agent.prompt('first', server.url)).toContain('refused an event of this session: 401')
  expect(await agent.prompt('second', server.url)).toBeNull()
  server.answers((response) => response.end('{}'))
  server.sent.length = 0
  await agent.prompt('third', server.url)
  expect(server.prompts()).toEqual(['first', 'second', 'third'])
  server.answers(status(400))
  expect(await agent.prompt('bad', server.url)).toContain('refused an event of this session: 400')
  server.answers((response) => response.end('{}'))
  server.sent.length = 0
  await agent.prompt('fourth', server.url)
  expect(server.prompts()).toEqual(['fourth'])
  expect(await agent.files()).toEqual([])
})

test('a HEDDLE_URL that is not an address is said once, and fails no hook', async () => {
  const agent = await startAgent()
  expect(await agent.prompt('first', 'not an address')).toContain('HEDDLE_URL')
  expect(await agent.prompt('second', 'not an address')).toBeNull()
})

test('calls of the local shell and of servers are made up for, also those that began before the outage', async () => {
  const [server, agent] = [await startServer(), await startAgent()]
  server.answers(status(503))
  await agent.prompt('first', server.url)
  await agent.isDue()
  const [path = ''] = await agent.files()
  const rollout = join(path, '..', 'rollout.txt')
  const at = (ms: number, payload: object) =>
    JSON.stringify({ timestamp: new Date(Date.now() + ms).toISOString(), type: 'response_item', payload })
  const action = { type: 'exec', command: ['ls', '-l'] }
  const named = { namespace: 'mcp__github__', name: 'issue', arguments: '{"number":4}' }
  const lines = [
    at(-60_000, { type: 'local_shell_call', call_id: 'c1', action }),
    at(1, { type: 'function_call_output', call_id: 'c1', output: 'a.txt' }),
    at(2, { type: 'function_call', call_id: 'c2', ...named }),
    at(3, { type: 'function_call_output', call_id: 'c2', output: 'open' }),
  ]
  await writeFile(rollout, lines.join('\n'))
  server.answers((response) => response.end('{}'))
  await agent.run({ hook_event_name: 'Stop', transcript_path: rollout }, server.url)
  const calls = server.sent.filter((sent) => sent.tool_name !== undefined)
  expect(calls).toMatchObject([
    { tool_name: 'Bash', tool_input: { command: 'ls -l' } },
    { tool_name: 'mcp__github__issue', tool_input: { number: 4 } },
  ])
})
