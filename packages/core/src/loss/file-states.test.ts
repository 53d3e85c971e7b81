import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { SummarySource } from '../speech/source.js'
import { FileStates } from './file-states.js'

function source(role: SummarySource['role'], text: string, more: Partial<SummarySource> = {}): SummarySource {
  return { reference: '', role, text, toolName: null, isError: false, pinned: false, orderedAtMs: 0, ...more }
}

interface Step {
  readonly tool: 'Read' | 'Write' | 'Edit' | 'Bash'
  readonly given: object
  readonly fails: boolean
  /** Its effect on a file system, given as paths with their contents. */
  readonly apply: (files: Map<string, 'read' | 'written' | 'deleted'>) => void
}

const folders = ['/w/a', '/w/b']
const path = fc.tuple(fc.constantFrom(...folders), fc.constantFrom('x.ts', 'y.ts')).map((parts) => parts.join('/'))
const set = (name: string, state: 'read' | 'written' | 'deleted') => (files: Map<string, string>) => {
  if (state !== 'read' || files.get(name) !== 'written') files.set(name, state)
}
const step = fc.oneof(
  path.map((file): Omit<Step, 'fails'> => ({ tool: 'Read', given: { file_path: file }, apply: set(file, 'read') })),
  path.map((file) => ({
    tool: 'Write' as const,
    given: { file_path: file, content: 'x' },
    apply: set(file, 'written'),
  })),
  path.map((file) => ({
    tool: 'Edit' as const,
    given: { file_path: file, old_string: 'x', new_string: 'y' },
    apply: set(file, 'written'),
  })),
  path.map((file) => ({ tool: 'Bash' as const, given: { command: `rm ${file}` }, apply: set(file, 'deleted') })),
  path.map((file) => ({ tool: 'Bash' as const, given: { command: `echo x > ${file}` }, apply: set(file, 'written') })),
  fc.tuple(path, path).map(([from, to]) => ({
    tool: 'Bash' as const,
    given: { command: `mv ${from} ${to}` },
    apply: (files: Map<string, string>) => {
      files.set(from, 'deleted')
      files.set(to, 'written')
    },
  })),
  fc.constantFrom(...folders).map((folder) => ({
    tool: 'Bash' as const,
    given: { command: `rm -rf ${folder}` },
    apply(files: Map<string, string>) {
      for (const file of files.keys()) if (file.startsWith(`${folder}/`)) files.set(file, 'deleted')
    },
  })),
)
const steps = fc.array(fc.tuple(step, fc.boolean()).map(([one, fails]) => ({ ...one, fails }) as Step))

test('states are those of a file system on which the calls that succeeded are replayed', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const states = new FileStates()
      const files = new Map<string, 'read' | 'written' | 'deleted'>()
      for (const { tool, given, fails, apply } of all) {
        states.addCalls(source('assistant', '', { calls: [{ id: 'call', name: tool, arguments: given as never }] }))
        states.addResult(source('tool_result', fails ? 'Exit code 1' : '', { toolName: tool, isError: fails }))
        if (!fails) apply(files)
      }
      for (const [file, state] of files) expect([file, states.of([file])]).toEqual([file, state])
    }),
  )
})

test('a file that was only named, or whose call nobody answered, has no state', () => {
  const states = new FileStates()
  states.addCalls(
    source('assistant', '', { calls: [{ id: 'call', name: 'Write', arguments: { file_path: '/w/a.ts' } }] }),
  )
  expect(states.of(['/w/a.ts'])).toBeNull()
})
