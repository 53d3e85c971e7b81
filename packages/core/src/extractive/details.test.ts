import type { ToolCall } from '@heddle/contracts'
import { expect, test } from 'vitest'
import type { SummarySource } from '../speech/source.js'
import { summarizeExtractively } from '../summarizing/summarize.js'
import { readCode } from './code.js'
import { namesIn } from './names.js'
import { PathView } from './path-view.js'

function source(role: SummarySource['role'], text: string, more: Partial<SummarySource> = {}): SummarySource {
  return { reference: '', role, text, toolName: null, isError: false, pinned: false, orderedAtMs: 0, ...more }
}

function step(name: string, args: ToolCall['arguments'], result: string, isError = false): SummarySource[] {
  const calls = [{ id: name, name, arguments: args }]
  return [
    source('assistant', '', { toolName: name, calls }),
    source('tool_result', result, { toolName: name, isError }),
  ]
}

function summarize(...steps: SummarySource[][]): string {
  const messages = [source('user', 'Please make the loom weave twill'), ...steps.flat()]
  return summarizeExtractively({ purpose: 'compaction', messages, previousSummary: null, tokensMax: 1_000 })
}

test('names are file names without folders and identifiers of two parts, but not plain words or ids', () => {
  const text =
    'In src/loom/warp-beam.ts weaveTwill calls shaft_lift; see v2.3, toolu_016Znf2b and "a\\nThe end" of README'
  expect([...namesIn(text)]).toEqual(['warp-beam.ts', 'weaveTwill', 'shaft_lift'])
})

test('code yields its declarations and the function in which a name occurs', () => {
  const { declared, scopes } = readCode(
    '  1\tfunc (l *Loom) Weave(n int) {\n  2\t\tl.shaftLift(n)\n  3\t}\n  4\tvar topSpeed = 1',
  )
  expect([...declared]).toEqual(['Weave', 'topSpeed'])
  expect(scopes.get('shaftLift')).toBe('Weave')
  expect(scopes.has('topSpeed')).toBe(false)
})

test('a file is described by the functions that edits touched, why, and how the next check went', () => {
  const edit = {
    file_path: '/repo/src/loom.ts',
    old_string: 'function weave() {\n  oldShaft(warpBeam)\n}\nfunction rest() {}',
    new_string: 'function weave() {\n  newShaft(warpBeam)\n}\nfunction weaveTwill() {}',
  }
  const [call, result] = step('Edit', edit, 'updated')
  const why = 'Now I see it. Let me give weave a shaft of its own, because the beam is shared:'
  const summary = summarize(
    [...(call ? [{ ...call, text: why }] : []), ...(result ? [result] : [])],
    step('Edit', { ...edit, old_string: 'x' }, 'failed', true),
    step('Bash', { command: 'npm test 2>&1 | tail -3' }, 'Exit code 1\n1 failed', true),
    step('Bash', { command: 'npm test' }, 'all green'),
  )
  expect(summary).toContain(
    '- /repo/src/loom.ts: edited; added weaveTwill, changed weave, removed rest; why: give weave a shaft of its own, because the beam is shared; npm test passed after it\n',
  )
})

test("a file's line names a few functions and counts the rest; other names are listed separately", () => {
  const names = Array.from(
    { length: 30 },
    (_, index) => `weavePattern${String.fromCharCode(65 + (index % 26))}${index < 26 ? 'x' : 'y'}`,
  )
  const code = names.map((name) => `function ${name}() {}`).join('\n')
  const summary = summarize(
    step('Write', { file_path: '/repo/src/loom.ts', content: code }, 'File created successfully'),
  )
  const line = summary.split('\n').find((each) => each.startsWith('- /repo/src/loom.ts'))
  expect(line).toMatch(/^- \/repo\/src\/loom\.ts: created; added (?:\w+, ){2}\w+ and 27 more$/)
  const identifiers = summary.slice(summary.indexOf('## Identifiers'))
  for (const each of identifiers.split('\n').slice(1))
    expect(each.match(/weavePattern/g)?.length).toBeLessThanOrEqual(12)
})

test('headings of a text that an edit adds are listed as headings', () => {
  const edit = {
    file_path: '/repo/docs/loom.md',
    old_string: 'The end',
    new_string: '## Warping\nText\n## Weaving\nMore',
  }
  expect(summarize(step('Edit', edit, 'updated'))).toContain('loom.md: edited; added “Warping”, “Weaving”')
})

test('one file has one line, however tools spell its path', () => {
  const summary = summarize(
    step('Read', { file_path: '/repo/src/loom.ts' }, 'export const topSpeed = 1'),
    step('Grep', { pattern: 'shaftLift', output_mode: 'content' }, 'src/loom.ts:12: shaftLift(1)'),
  )
  const files = summary.slice(summary.indexOf('## Files'), summary.indexOf('## Commands'))
  expect(files.match(/loom\.ts:/g)).toHaveLength(1)
  expect(files).toContain('/repo/src/loom.ts: read')
})

test('files that only searches found are named, and so are the functions of a file that was read once', () => {
  const found = Array.from(
    { length: 20 },
    (_, index) => `src/shaft-${index}.ts:3: import { liftShaft } from './lift.js'`,
  )
  const summary = summarize(
    step('Grep', { pattern: 'liftShaft', output_mode: 'content' }, found.join('\n')),
    step('Read', { file_path: '/repo/src/warp.ts' }, '1\tfunction windBeam() {\n2\t  setTension(warpBeam)\n3\t}'),
  )
  for (const path of found) expect(summary).toContain(path.slice('src/'.length, path.indexOf(':')))
  expect(summary).toContain('warp.ts: windBeam works with warpBeam, setTension')
})

test('a failure is listed with the edits made before it passed', () => {
  const run = { command: 'cd /repo && npm test 2>&1 | tail -20' }
  const summary = summarize(
    step('Bash', run, 'Exit code 1\nError: shaft 4 is stuck', true),
    step('Edit', { file_path: '/repo/src/shaft.ts', old_string: 'a', new_string: 'b' }, 'updated'),
    step('Bash', run, 'all green'),
  )
  expect(summary).toContain('Error: shaft 4 is stuck (npm test; passes since shaft.ts was edited)')
  expect(summary).toContain('npm test: all green (2 runs, 1 failed)')
})

test('a message that a user sends instead of letting a call run is a request', () => {
  const words =
    "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nuse linen"
  const summary = summarize(step('Bash', { command: 'buy cotton' }, words, true))
  expect(summary).toContain('- use linen (said instead of allowing buy cotton)')
  expect(summary).not.toContain("doesn't want")
})

test('the latest to-do list gives the state and the next steps', () => {
  const todos = (status: string) => ({ todos: [{ content: 'Thread the heddles', status }] })
  const done = step(
    'TodoWrite',
    { todos: [...todos('completed').todos, { content: 'Weave', status: 'pending' }] },
    'ok',
  )
  const summary = summarize(step('TodoWrite', todos('in_progress'), 'ok'), done)
  expect(summary).toMatch(/## Current state\n- Done: Thread the heddles/)
  expect(summary).toMatch(/## Next steps\n- To do: Weave/)
  expect(summary).not.toContain('In progress')
})

test('paths are shown without the folder that most of them share', () => {
  const paths = new PathView(['/a/repo/src/x.ts', '/a/repo/src/y.ts', '/a/repo/src/z.ts', '/tmp/log.txt'])
  expect(paths.root).toBe('/a/repo/src/')
  expect(paths.show('/a/repo/src/x.ts')).toBe('x.ts')
  expect(paths.show('/tmp/log.txt')).toBe('/tmp/log.txt')
  expect(paths.within('ls /a/repo/src && cat /a/repo/src/x.ts')).toBe('ls . && cat x.ts')
  expect(new PathView(['src/x.ts', 'src/y.ts']).root).toBe('')
})
