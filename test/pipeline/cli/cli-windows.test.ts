import { writeFile } from 'node:fs/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Home, openDatabaseHome } from './cli-support.js'

const line = (index: number, sentAt: string) => JSON.stringify({ role: 'user', content: `message ${index}`, sentAt })
const ofLastYear = [0, 1, 2].map((index) => line(index, `2025-02-12T14:3${index}:00Z`))
const today = () => line(9, new Date().toISOString())

let home: Home

beforeAll(async () => {
  home = await openDatabaseHome()
  await writeFile(home.path('old.jsonl'), `${ofLastYear.join('\n')}\n`)
  await writeFile(home.path('mixed.jsonl'), `${[...ofLastYear, today()].join('\n')}\n`)
  await home.heddle('agents', 'set', 'bot', '--prompt', 'You answer.')
})

describe('an import into an agent with a window', () => {
  test('says how many messages of each session contexts show, and what to do', async () => {
    const ran = await home.heddle('import', 'old.jsonl', 'mixed.jsonl', '--agent', 'bot')
    expect(ran.code).toBe(0)
    expect(ran.stdout).toMatch(/old .* 0 \/ 3\n/)
    expect(ran.stdout).toMatch(/mixed .* 1 \/ 4\n/)
    expect(ran.stderr).toContain(
      'warning: thread "old": none of the 3 messages of the thread is shown: 3 are outside of the rolling window of 86400 seconds; to show all ages: heddle settings set rollingWindow none --agent bot',
    )
    expect(ran.stderr).toContain('warning: thread "mixed": 3 of the 4 messages of the thread are not shown')
    const { document } = await home.heddle(
      'import',
      'old.jsonl',
      '--agent',
      'bot',
      '--rolling-window',
      'none',
      '--json',
    )
    expect(document).toMatchObject({ stored: 0, threads: [{ thread: 'old', eligible: 0, imported: 3 }] })
    expect(document.warnings).toEqual([
      expect.stringContaining('thread "old": none of the 3 messages'),
      expect.stringContaining('--rolling-window was ignored'),
    ])
  })

  test('prints no warning for an agent that it creates', async () => {
    const ran = await home.heddle('import', 'old.jsonl', '--agent', 'fresh', '--thread', 'fresh', '--json')
    expect(ran.document).toMatchObject({ warnings: [], threads: [{ eligible: 3, imported: 3 }] })
  })
})

describe('a context of a thread with only old messages', () => {
  test('is built with a warning, which is also the first line of its explanation', async () => {
    const built = await home.heddle('context', 'build', '--thread', 'old', '--message', 'go on')
    expect(built.stderr).toMatch(/^warning: none of the 3 messages of the thread is shown: 3 are outside/m)
    expect(built.stdout).toContain('eligible 0 / imported 3 (left out: 3 outside-window)')
    const id = /^context (\S+)$/m.exec(built.stdout)?.[1] ?? ''
    const explained = (await home.heddle('context', 'explain', id)).stdout
    expect(explained).toMatch(/^context .*\nthread .*\n\nwarning: none of the 3 messages of the thread is shown/)
    expect(explained).toContain('\nhidden by the window: 3, older than the rolling window\n')
    expect(explained).not.toContain('never eligible')
  })

  test('is refused without a message, with the reason, and built for a window in the request', async () => {
    const refused = await home.heddle('context', 'build', '--thread', 'old', '--json')
    expect(refused).toMatchObject({ code: 1, error: { code: 'VALIDATION_ERROR' } })
    expect(refused.error.detail).toContain('none of the 3 messages of the thread is shown')
    expect(refused.error.hint).toContain('heddle settings set rollingWindow none --agent bot')
    const wide = await home.heddle('context', 'build', '--thread', 'old', '--rolling-window', 'none', '--json')
    expect(wide.document).toMatchObject({ receipt: { eligible: 3, ineligible: {}, notes: [] } })
  })

  test('with some newer ones notes the old ones, without a warning', async () => {
    const built = await home.heddle('context', 'build', '--thread', 'mixed')
    expect(built.stderr).not.toContain('warning')
    expect(built.stdout).toContain('note: 3 of the 4 messages of the thread are not shown: 3 are outside')
  })
})

test('threads show says first which messages contexts do not show', async () => {
  const { stdout } = await home.heddle('threads', 'show', 'old')
  expect(stdout).toMatch(
    /^thread old · agent bot\nwarning: none of the 3 messages of the thread is shown: 3 are outside/,
  )
  expect(stdout).toContain('eligible 0 / imported 3')
})
