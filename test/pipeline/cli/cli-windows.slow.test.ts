import { writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { openDatabaseHome } from './cli-support.js'

test('the banner of heddle up names agents with threads whose messages no context shows', async () => {
  const home = await openDatabaseHome()
  const line = (sentAt: string) => JSON.stringify({ role: 'user', content: `said at ${sentAt}`, sentAt })
  const old = line('2025-02-12T14:30:00Z')
  await writeFile(home.path('old.jsonl'), `${old}\n`)
  await writeFile(home.path('mixed.jsonl'), `${old}\n${line(new Date().toISOString())}\n`)
  await home.heddle('agents', 'set', 'bot', '--prompt', 'You answer.')
  expect((await home.heddle('import', 'old.jsonl', 'mixed.jsonl', '--agent', 'bot')).code).toBe(0)
  const up = home.start(['up', '--port', '0', '--json'])
  expect(JSON.parse(await up.firstLine).outsideWindow).toEqual([{ agent: 'bot', threads: 2, outside: 1 }])
  up.kill('SIGTERM')
  expect((await up.ended).code).toBe(0)
})
