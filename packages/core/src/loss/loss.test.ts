import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { finish } from '../recall/steps.js'
import type { SummarySource } from '../speech/source.js'
import { AtomCollector, type AtomSet, fatesOf } from './index.js'

let codes = 0
function source(role: SummarySource['role'], text: string, more: Partial<SummarySource> = {}): SummarySource {
  const reference = `msg-aaaa${String(++codes).padStart(4, '0')}`
  return { reference, role, text, toolName: null, isError: false, pinned: false, orderedAtMs: 0, ...more }
}
const called = (name: string, given: object, text = '') =>
  source('assistant', text, { toolName: name, calls: [{ id: 'call', name, arguments: given as never }] })
const result = (name: string, text: string, isError = false) => source('tool_result', text, { toolName: name, isError })

const session = [
  source('user', 'Please make the parser accept tabs. It must stay compatible with version 2.3. Never push to main.'),
  source(
    'assistant',
    'I will use `parseTabs` instead of a second parser. See https://example.org/tabs for 40 ms budgets.',
  ),
  called('Read', { file_path: '/repo/src/parser.ts' }),
  result('Read', '1\texport function parse() {}'),
  called('Bash', { command: 'npm test -- parser' }),
  result('Bash', 'Exit code 1\nsrc/parser.test.ts:12:3: error TS2554: Expected 2 arguments', true),
  source('user', 'No, that is not what I meant: tabs are 4 columns.'),
  called('Edit', { file_path: '/repo/src/parser.ts', old_string: 'a', new_string: 'b' }),
  result('Edit', 'The file src/parser.ts has been updated.'),
  called('Bash', { command: 'npm test -- parser' }),
  result('Bash', 'Exit code 0\n12 tests passed'),
  called('Bash', { command: 'echo done > /repo/out/report.txt' }),
  result('Bash', ''),
  called('TodoWrite', {
    todos: [
      { content: 'Accept tabs', status: 'completed' },
      { content: 'Describe tabs in the manual', status: 'pending' },
    ],
  }),
  result('TodoWrite', 'ok'),
]

function atomsOf(messages: readonly SummarySource[]): AtomSet {
  const collector = new AtomCollector()
  finish(collector.add(messages))
  return collector.result()
}
const textsOf = (atoms: AtomSet, kind: Parameters<AtomSet['of']>[0]) => atoms.of(kind).map(({ text }) => text)
const fates = (atoms: AtomSet, summary: string, messages: Parameters<typeof fatesOf>[1]['messages'] = []) =>
  finish(fatesOf(atoms, { summary, messages }))

describe('atoms', () => {
  const atoms = atomsOf(session)

  test('what a user demands and corrects is kept word for word, and questions are neither', () => {
    expect(textsOf(atoms, 'constraint')).toEqual(['It must stay compatible with version 2.3.', 'Never push to main.'])
    expect(textsOf(atoms, 'correction')).toEqual(['No, that is not what I meant: tabs are 4 columns.'])
    expect(textsOf(atomsOf([source('user', 'Should it never be possible to push to main?')]), 'constraint')).toEqual([])
  })

  test('a constraint that is taken back is one no longer, and what takes it back is a correction', () => {
    const atoms = atomsOf([...session, source('user', 'You may push to main again.')])
    expect(textsOf(atoms, 'constraint')).toEqual(['It must stay compatible with version 2.3.'])
    expect(textsOf(atoms, 'correction').at(-1)).toBe('You may push to main again.')
    expect(textsOf(atomsOf([source('user', 'You may push to main again.')]), 'correction')).toEqual([])
  })

  test('decisions, addresses, numbers with units and identifiers are found in what was said', () => {
    expect(textsOf(atoms, 'decision')).toEqual(['I will use `parseTabs` instead of a second parser.'])
    expect(textsOf(atoms, 'url')).toEqual(['https://example.org/tabs'])
    expect(textsOf(atoms, 'number')).toEqual(['40 ms'])
    expect(textsOf(atoms, 'identifier')).toEqual(['parseTabs'])
  })

  test('files are those of calls and of command lines, each once, with the last state that calls left', () => {
    expect(atoms.of('path').map(({ text, state }) => [text, state])).toEqual([
      ['/repo/src/parser.ts', 'written'],
      ['/repo/out/report.txt', 'written'],
    ])
  })

  test('commands have their last outcome, errors whether they were solved, and plans their open steps', () => {
    expect(atoms.of('command').map(({ key, state }) => [key, state])).toContainEqual(['npm test -- parser', 'passed'])
    const [error] = atoms.of('error')
    expect(error?.text).toContain('error TS2554: Expected 2 arguments')
    expect(error?.state).toBe('solved')
    expect(textsOf(atoms, 'todo')).toEqual(['To do: Describe tabs in the manual'])
  })

  test('pages give the same atoms as one list', () => {
    const paged = new AtomCollector()
    for (const message of session) finish(paged.add([message]))
    const inPages = paged.result()
    for (const kind of ['constraint', 'path', 'command', 'error', 'todo'] as const)
      expect(inPages.of(kind)).toEqual(atoms.of(kind))
  })

  test('past its bound a kind is not counted further, and the set says so', () => {
    const many = Array.from({ length: 4_100 }, (_, index) => `See partName${index}x for it.`)
    const all = atomsOf(many.map((text) => source('assistant', text)))
    expect(all.of('identifier')).toHaveLength(4_000)
    expect(all.isComplete).toBe(false)
  })
})

describe('fates', () => {
  const atoms = atomsOf(session)
  const kindOf = (summary: string, kind: Parameters<AtomSet['of']>[0]) => fates(atoms, summary).kinds.get(kind)

  test('an empty summary loses everything, and each loss names its messages', () => {
    const { kinds, lost } = fates(atoms, '')
    for (const counts of kinds.values()) expect(counts).toMatchObject({ lost: counts.total, summary: 0 })
    expect(lost.find(({ kind }) => kind === 'constraint')?.references).toEqual([session[0]?.reference])
  })

  test("a constraint counts as kept word for word only, whatever its case and signs; a decision also in a line's other words", () => {
    expect(kindOf('- it must stay compatible with version 2.3', 'constraint')).toMatchObject({ summary: 1, lost: 1 })
    expect(kindOf('It has to remain compatible with 2.3', 'constraint')).toMatchObject({ summary: 0, lost: 2 })
    expect(kindOf('Decided: use parseTabs, no second parser, instead', 'decision')).toMatchObject({ summary: 1 })
    expect(kindOf('Decided: use\nparseTabs\nno second\nparser', 'decision')).toMatchObject({ summary: 0 })
  })

  test('a path counts as kept by an ending that no other path has', () => {
    expect(kindOf('Changed src/parser.ts', 'path')).toMatchObject({ summary: 1 })
    const twins = atomsOf([
      called('Read', { file_path: '/a/src/index.ts' }),
      called('Read', { file_path: '/b/src/index.ts' }),
    ])
    const counts = (summary: string) => fates(twins, summary).kinds.get('path')
    expect(counts('Read src/index.ts')).toMatchObject({ summary: 0, lost: 2 })
    expect(counts('Read a/src/index.ts')).toMatchObject({ summary: 1, lost: 1 })
  })

  test('raw, pinned and recallable details are not lost, and a ledger has all others', () => {
    const [first] = session
    const shown = fates(atoms, `[recall:${first?.reference}]`, [
      { text: 'See https://example.org/tabs', isPinned: false },
      { text: 'src/parser.ts is ours', isPinned: true },
    ])
    expect(shown.kinds.get('constraint')).toMatchObject({ recall: 2, lost: 0 })
    expect(shown.kinds.get('url')).toMatchObject({ raw: 1 })
    expect(shown.kinds.get('path')).toMatchObject({ pinned: 1, lost: 1 })
    expect(fates(atoms, 'See [recall:msg-aaaa0001:ledger].').lost).toEqual([])
  })

  test('every atom has exactly one fate, and more text in a summary never loses one', () => {
    const words = fc.constantFrom(
      'must',
      'src/a.ts',
      'npm test',
      '12 ms',
      'never push it',
      'parseTabs',
      'No, wrong',
      'x',
    )
    const message = fc
      .tuple(fc.constantFrom('user' as const, 'assistant' as const, 'tool_result' as const), fc.array(words))
      .map(([role, parts]) => source(role, parts.join(' ')))
    fc.assert(
      fc.property(fc.array(message), fc.array(words), fc.array(words), (messages, summary, more) => {
        const all = atomsOf(messages)
        const [before, after] = [fates(all, summary.join('\n')), fates(all, [...summary, ...more].join('\n'))]
        for (const { total, ...counts } of before.kinds.values())
          expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(total)
        const lostBefore = new Set(before.lost.map(({ kind, key }) => `${kind} ${key}`))
        for (const { kind, key } of after.lost) expect(lostBefore).toContain(`${kind} ${key}`)
      }),
    )
  })
})
