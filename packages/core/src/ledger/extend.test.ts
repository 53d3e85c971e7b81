import type { ToolCall } from '@heddle/contracts'
import { describe, expect, test } from 'vitest'
import { sampleMessage } from '../../../../test/support/src/samples/conversations.js'
import { readConversation } from '../conversation/conversation.js'
import type { Message } from '../conversation/message.js'
import { positionOf } from '../conversation/order.js'
import { finish } from '../recall/steps.js'
import { ARTIFACTS_MAX, type Ledger } from './artifact.js'
import { extendLedger } from './extend.js'

interface Done {
  readonly name: string
  readonly arguments: unknown
  readonly result?: string
  readonly isError?: boolean
}

/** Each call in a message of its own, with its answer unless it has no result. */
function thread(calls: readonly Done[]): Message[] {
  return calls.flatMap(({ name, arguments: given, result, isError = false }, index) => {
    const call: ToolCall = { id: `call-${index}`, name, arguments: given as ToolCall['arguments'] }
    const asked = sampleMessage({ seq: 2 * index + 1, role: 'tool_use', content: '', toolCalls: [call] })
    if (result === undefined) return [asked]
    const answer = { role: 'tool_result' as const, content: result, toolCallId: call.id, toolName: name, isError }
    return [asked, sampleMessage({ seq: 2 * index + 2, ...answer })]
  })
}

function ledgerOf(messages: readonly Message[], before: Ledger | null = null, after: Message | null = null): Ledger {
  const last = messages.at(-1)
  if (last === undefined) throw new Error('no messages')
  const range = { after: after && positionOf(after), to: positionOf(last), tools: [] }
  return finish(extendLedger(before, { conversation: readConversation(messages), ...range }))
}

const write = (path: string, content: string, result = 'File created successfully'): Done => ({
  name: 'Write',
  arguments: { file_path: path, content },
  result,
})
const bash = (command: string, result = '', isError = false): Done => ({
  name: 'Bash',
  arguments: { command },
  result,
  isError,
})
const read = (path: string): Done => ({ name: 'Read', arguments: { file_path: path }, result: '1\tx' })

const shown = ({ artifacts }: Ledger) =>
  artifacts.map(({ kind, name, state }) => `${kind} ${name}${state === null ? '' : ` ${state}`}`)

describe('the ledger', () => {
  test('has files, commands and addresses with their last states, in the order of their first calls', () => {
    const ledger = ledgerOf(
      thread([
        read('/app/src/a.ts'),
        write('/app/src/b.ts', 'one\ntwo\n'),
        read('/app/src/b.ts'),
        bash('npm test', 'Error: 2 tests failed', true),
        bash('mv /app/old.ts /app/new.ts'),
        bash('rm -r /app/tmp'),
        bash('curl http://localhost:4680/v1/agents # for HED-27', '{}'),
        bash('ls', 'a.ts'),
      ]),
    )
    expect(shown(ledger)).toEqual([
      'file /app/src/a.ts read',
      'file /app/src/b.ts written',
      'command npm test failed',
      'file /app/old.ts moved',
      'file /app/new.ts written',
      'command mv /app/old.ts /app/new.ts passed',
      'file /app/tmp deleted',
      'command rm -r /app/tmp passed',
      'service localhost:4680',
      'ticket HED-27',
      'url http://localhost:4680/v1/agents',
      'command curl http://localhost:4680/v1/agents # for HED-27 passed',
    ])
    const [, written, command, moved] = ledger.artifacts
    expect(written).toMatchObject({ lines: 2, check: { name: 'npm test', passed: false } })
    expect(command?.detail).toContain('2 tests failed')
    expect(moved?.detail).toBe('to /app/new.ts')
  })

  test('is the same whether it is made at once or compaction by compaction', () => {
    const messages = thread([
      write('/app/src/a.ts', 'x'),
      bash('npm test', 'ok'),
      read('src/a.ts'),
      { name: 'Edit', arguments: { file_path: 'src/a.ts', old_string: 'x', new_string: 'x\ny' }, result: 'updated' },
      bash('npm test', 'failed', true),
      write('lib/b.ts', 'x'),
      read('/app/lib/b.ts'),
      bash('rm -r /app/lib'),
    ])
    const whole = ledgerOf(messages)
    for (let cut = 1; cut < messages.length; cut++) {
      const first = ledgerOf(messages.slice(0, cut))
      expect(ledgerOf(messages, first, messages[cut - 1])).toEqual(whole)
    }
    expect(shown(whole)).toContain('file /app/lib/b.ts deleted')
    expect(whole.artifacts[0]).toMatchObject({ lines: 2, check: { passed: false } })
  })

  test.each([
    ['failed', { ...write('a.ts', 'x'), isError: true, result: 'Error: no such folder' }],
    ['was not answered', { name: 'Write', arguments: { file_path: 'a.ts', content: 'x' } }],
  ])('has no file of a call that %s', (_, call) => {
    expect(shown(ledgerOf(thread([call])))).toEqual([])
  })

  test.each<[string, readonly Done[], readonly string[]]>([
    [
      'takes along the files of a folder that is moved, and their lines',
      [write('/app/old/a.ts', 'x\ny\n'), bash('mv /app/old /app/new')],
      ['file /app/old/a.ts moved', 'file /app/new/a.ts written', 'file /app/old moved'],
    ],
    [
      'moves a file into a folder with files that are known',
      [write('/app/lib/b.ts', 'x'), write('/app/a.ts', 'x'), bash('mv /app/a.ts /app/lib')],
      ['file /app/lib/b.ts written', 'file /app/a.ts moved', 'file /app/lib/a.ts written'],
    ],
    [
      'finds a folder by its relative path',
      [read('/app/lib/b.ts'), bash('rm -r lib')],
      ['file /app/lib/b.ts deleted', 'file /app/lib deleted'],
    ],
    [
      'has no folder as deleted that has files again',
      [bash('rm -r /app/lib'), write('/app/lib/b.ts', 'x')],
      ['file /app/lib/b.ts written'],
    ],
    [
      'has the changes of a line that failed later',
      [bash('rm /app/a.ts && false', 'Exit code 1', true)],
      ['file /app/a.ts deleted'],
    ],
    [
      'has a file that is shown again after it was deleted',
      [bash('rm /app/a.ts'), bash('git stash pop'), read('/app/a.ts')],
      ['file /app/a.ts read'],
    ],
    [
      'keeps a file as written when it is read by a longer path',
      [write('src/a.ts', 'x'), read('/app/src/a.ts')],
      ['file /app/src/a.ts written'],
    ],
    [
      'has the files that a patch deletes and moves',
      [
        {
          name: 'apply_patch',
          arguments: {
            input:
              '*** Begin Patch\n*** Delete File: a.ts\n*** Update File: b.ts\n*** Move to: c.ts\n@@\n-x\n+y\n*** End Patch',
          },
          result: 'Done',
        },
      ],
      ['file a.ts deleted', 'file b.ts moved', 'file c.ts written'],
    ],
    [
      'has the files that a tool deletes',
      [{ name: 'delete_file', arguments: { path: 'a.ts' }, result: 'ok' }],
      ['file a.ts deleted'],
    ],
  ])('%s', (_, calls, expected) => {
    expect(shown(ledgerOf(thread(calls))).filter((line) => line.startsWith('file '))).toEqual(expected)
  })

  test('takes no condition of the shell for a check of its files', () => {
    const calls = [
      write('/app/a.ts', 'x'),
      bash('test -f /app/b.ts', 'Exit code 1', true),
      bash('npm test', '1 passed'),
    ]
    expect(ledgerOf(thread(calls.slice(0, 2))).artifacts[0]?.check).toBeNull()
    expect(ledgerOf(thread(calls)).artifacts[0]?.check).toEqual({ name: 'npm test', passed: true })
  })

  test('has no secrets', () => {
    const secret = 'sk-proj-abcdefghijklmnopqrstuvwxyz'
    const ledger = ledgerOf(thread([bash(`deploy --token=${secret} now`, `done with ${secret}`)]))
    expect(JSON.stringify(ledger)).not.toContain(secret)
    expect(ledger.artifacts).toHaveLength(1)
  })

  test('keeps changed files before files that were only read when it is full', () => {
    const many = Array.from({ length: ARTIFACTS_MAX }, (_, index) => read(`/r/${index}.ts`))
    const ledger = ledgerOf(thread([write('/w/a.ts', 'x'), ...many, write('/w/b.ts', 'x')]))
    expect(ledger.artifacts).toHaveLength(ARTIFACTS_MAX)
    expect(ledger.dropped).toBe(2)
    expect(shown(ledger).filter((line) => line.endsWith('written'))).toEqual([
      'file /w/a.ts written',
      'file /w/b.ts written',
    ])
    expect(shown(ledger)).not.toContain('file /r/0.ts read')
  })
})

test('copies of copies of a folder do not double a ledger with each call', () => {
  const copies = Array.from({ length: 14 }, (_, call) => bash(`cp -r /r/a /r/t${call} && mv /r/t${call} /r/a/`, ''))
  const startedMs = performance.now()
  const { artifacts, dropped } = ledgerOf(thread([write('/r/a/x.ts', 'x'), ...copies]))
  expect(artifacts.length + dropped).toBeLessThan(copies.length * (2 * ARTIFACTS_MAX + 2))
  expect(performance.now() - startedMs).toBeLessThan(5_000)
})
