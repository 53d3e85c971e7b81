import { appendFile, mkdir, writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { openDatabaseHome } from './cli-support.js'

const line = (value: object) => `${JSON.stringify(value)}\n`
const at = (second: number) => `2026-02-12T14:30:0${second}.000Z`
const said = (uuid: string, second: number, content: unknown) =>
  line({ type: 'user', uuid, timestamp: at(second), message: { role: 'user', content } })
const replied = (uuid: string, second: number, block: object) =>
  line({
    type: 'assistant',
    uuid,
    timestamp: at(second),
    message: { id: 'msg_1', role: 'assistant', content: [block] },
  })
const call = (id: string) => ({ type: 'tool_use', id, name: 'Read', input: { file_path: `/src/${id}.ts` } })
const result = (id: string) => [{ type: 'tool_result', tool_use_id: id, content: `content of ${id}` }]

/** A session of Claude Code: the result of the first call is written before the second call. */
const SESSION = [
  said('u0', 0, 'Look at both.'),
  replied('a1', 1, { type: 'text', text: 'I read them.' }),
  replied('a2', 1, call('one')),
  said('r1', 2, result('one')),
  replied('a3', 3, call('two')),
  said('r2', 4, result('two')),
  said('u1', 5, 'Thanks.'),
]
const ROLLOUT = [
  line({ timestamp: at(0), type: 'session_meta', payload: { id: 'one' } }),
  ...['Fix it.', 'And test it.'].map((text, index) =>
    line({
      timestamp: at(index),
      type: 'response_item',
      payload: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
    }),
  ),
]

test('import --watch follows live sessions, goes on after it was killed, and ends with Ctrl-C', async () => {
  const home = await openDatabaseHome()
  await mkdir(home.path('sessions/2026'), { recursive: true })
  const [live, rollout] = [home.path('sessions/live.jsonl'), home.path('sessions/2026/rollout-1.jsonl')]
  const watch = () => home.start(['import', '--watch', 'sessions', '--agent', 'coder', '--json'])
  const first = watch()
  expect(JSON.parse(await first.lineWith('caughtUp'))).toMatchObject({ event: 'caughtUp', files: 0, stored: 0 })
  await writeFile(live, SESSION.slice(0, 4).join('') + SESSION[4]?.slice(0, 30))
  await writeFile(rollout, ROLLOUT.slice(0, 2).join(''))
  expect(JSON.parse(await first.lineWith('"live"'))).toMatchObject({
    event: 'imported',
    file: live,
    messages: 3,
    stored: 3,
  })
  expect(JSON.parse(await first.lineWith('"rollout-1"'))).toMatchObject({ format: 'codex', stored: 1 })
  first.kill('SIGKILL')
  await first.ended

  await writeFile(live, SESSION.join(''))
  await appendFile(rollout, ROLLOUT[2] ?? '')
  const second = watch()
  // The reply was longer than when it was stored: its second call is stored as a message after it.
  expect(JSON.parse(await second.lineWith('"live"'))).toMatchObject({ messages: 5, stored: 3, repeated: 2, grown: 1 })
  expect(JSON.parse(await second.lineWith('"rollout-1"'))).toMatchObject({ stored: 1, repeated: 1 })
  second.kill('SIGINT')
  const ended = await second.ended
  expect([ended.code, ended.stderr]).toEqual([0, ''])
  expect(JSON.parse(ended.stdout.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
    event: 'stopped',
    threads: 2,
    failed: 0,
  })

  await home.heddle('import', 'sessions/live.jsonl', '--agent', 'coder', '--thread', 'whole')
  const read = async (thread: string) => {
    const { items } = (await home.heddle('threads', 'history', thread, '--json')).document
    // biome-ignore lint/suspicious/noExplicitAny: tests read it like a program in any language.
    const texts = (role: string) => items.filter((item: any) => item.role === role).map((item: any) => item.content)
    // biome-ignore lint/suspicious/noExplicitAny: tests read it like a program in any language.
    const calls = items.flatMap((item: any) => (item.toolCalls ?? []).map(({ id }: any) => id))
    return { user: texts('user'), results: texts('tool_result').sort(), replies: texts('assistant').join(''), calls }
  }
  expect(await read('live')).toEqual(await read('whole'))
  expect((await read('rollout-1')).user).toEqual(['Fix it.', 'And test it.'])
})

test('import --watch refuses a thread, a file and a folder that does not exist', async () => {
  const home = await openDatabaseHome()
  await writeFile(home.path('file.jsonl'), SESSION.join(''))
  const watch = async (...argv: string[]) =>
    await home.heddle('import', '--watch', ...argv, '--agent', 'coder', '--json')
  expect(await watch('absent')).toMatchObject({ code: 1, error: { code: 'NOT_FOUND', field: 'folder' } })
  expect(await watch('file.jsonl')).toMatchObject({ code: 1, error: { code: 'VALIDATION_ERROR', field: 'folder' } })
  expect((await watch('.', '--thread', 'one')).code).toBe(2)
})
