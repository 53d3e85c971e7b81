import { createWriteStream } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { smallDisk } from '@heddle/test-support/servers/small-disk'
import { expect, test } from 'vitest'
import { openDatabaseHome } from './cli-support.js'

const idOf = (index: number) => `018f0000-0000-7000-8000-${String(index).padStart(12, '0')}`
const message = (index: number, content = `message ${index}`) =>
  `${JSON.stringify({ id: idOf(index), role: index % 2 === 0 ? 'user' : 'assistant', content })}\n`

/** Megabytes of the command's old generation; its modules take half of them. */
const HEAP_MEGABYTES = 80
const FILE_MEGABYTES = 240
const MESSAGES = 300

/** A session of Claude Code: a few messages, and hundreds of megabytes of other records. */
function* longSession(): Generator<string> {
  const record = JSON.stringify({ type: 'progress', sessionId: 's', data: 'lines of a build '.repeat(12_000) })
  for (let index = 0; index < MESSAGES; index++) {
    const type = index % 2 === 0 ? 'user' : 'assistant'
    const said = { role: type, content: [{ type: 'text', text: `message ${index} `.repeat(300) }] }
    yield `${JSON.stringify({ type, uuid: idOf(index), sessionId: 's', message: said })}\n`
    for (let mega = index; mega < FILE_MEGABYTES * 5; mega += MESSAGES) yield `${record}\n`
  }
}

test('a file three times as large as the heap of the command is imported', { timeout: 180_000 }, async () => {
  const home = await openDatabaseHome()
  await pipeline(Readable.from(longSession()), createWriteStream(home.path('long.jsonl')))
  const up = home.start(['up', '--port', '0', '--json'])
  await up.firstLine
  const small = home.under({ NODE_OPTIONS: `--max-old-space-size=${HEAP_MEGABYTES}` })
  const ran = await small.start(['import', 'long.jsonl', '--agent', 'coder', '--json']).ended
  expect([ran.code, ran.signal, ran.stderr.slice(-2_000)]).toEqual([0, null, expect.any(String)])
  expect(ran.document).toMatchObject({ stored: MESSAGES, repeated: 0, failed: [] })
  up.kill('SIGTERM')
  await up.ended
})

test('a session from a pipe is imported, and a second time without being stored twice', async () => {
  const home = await openDatabaseHome()
  const lines = Array.from({ length: 1_200 }, (_, index) => message(index)).join('')
  const argv = ['import', '/dev/stdin', '--agent', 'coder', '--thread', 'piped', '--json']
  const first = await home.start(argv, lines).ended
  expect(first.code).toBe(0)
  expect(first.document).toMatchObject({ stored: 1_200, repeated: 0, threads: [{ thread: 'piped', messages: 1_200 }] })
  const again = await home.start(argv, lines).ended
  expect(again.document).toMatchObject({ stored: 0, repeated: 1_200 })
})

test('a session from a pipe is refused while the temporary folder is full, and stored once there is space', async (context) => {
  const full = smallDisk(1)
  if (full === null) return context.skip('a small disk cannot be mounted: run this as root, with mount allowed')
  const home = await openDatabaseHome()
  const lines = Array.from({ length: 12_000 }, (_, index) => message(index)).join('')
  const argv = ['import', '/dev/stdin', '--agent', 'coder', '--thread', 'piped', '--json']
  const refused = await home.under({ TMPDIR: full }).start(argv, lines).ended
  expect(refused).toMatchObject({
    code: 1,
    error: { code: 'SERVICE_UNAVAILABLE', field: 'file', detail: expect.stringContaining(full) },
  })
  expect(refused.error.hint).toContain('TMPDIR')
  expect(await readdir(full)).toEqual([])
  expect((await home.start(argv, lines).ended).document).toMatchObject({ stored: 12_000 })
})

test('nothing is stored of a long session that conflicts with stored messages in its middle', async () => {
  const home = await openDatabaseHome()
  await writeFile(home.path('long.jsonl'), message(700))
  expect((await home.heddle('import', 'long.jsonl', '--agent', 'coder', '--json')).code).toBe(0)
  const lines = Array.from({ length: 1_200 }, (_, index) => message(index, index === 700 ? 'another' : undefined))
  await writeFile(home.path('long.jsonl'), lines.join(''))

  const ran = await home.heddle('import', 'long.jsonl', '--agent', 'coder', '--json')
  expect(ran).toMatchObject({ code: 1, error: { code: 'CONFLICT' } })
  const { items } = (await home.heddle('threads', 'history', 'long', '--json')).document
  expect(items.map(({ id }: { id: string }) => id)).toEqual([idOf(700)])
})
