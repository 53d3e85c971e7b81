import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type CommandEnd, fileEffects } from './file-effects.js'

const changes = (command: string, end: Partial<CommandEnd> = {}) =>
  fileEffects(command, { hasSucceeded: true, hasRun: true, output: '', ...end }).map(
    (effect) => `${effect.kind} ${effect.path}${'to' in effect ? ` ${effect.to}` : ''}`,
  )
const failed = (output: string) => ({ hasSucceeded: false, hasRun: true, output })

test.each<[string, string[]]>([
  ['rm a.ts; echo done', ['remove a.ts']],
  ['rm a.ts || true', ['remove a.ts']],
  ['mv a.ts b.ts src/', ['move a.ts src/', 'move b.ts src/']],
  ['cp a.ts src/', ['copy a.ts src/']],
  ['touch a.ts', ['create a.ts']],
  ['mkdir -p src/api', ['folder src/api']],
  ['cat a.ts; echo; head -n 3 b.ts', ['view a.ts', 'view b.ts']],
  ['(cd src && rm a.ts)', ['remove src/a.ts']],
  ['make > make.log; echo done', ['write make.log']],
  ['for f in a.ts "b.ts"; do sed -i s/x/y/ "$f"; done', ['write a.ts', 'write b.ts']],
  [
    'for f in a.ts \\\n  b.ts; do\n  if grep -q x "$f"; then\n    rm "$f"\n  fi\n  touch $f.bak\ndone',
    ['create a.ts.bak', 'create b.ts.bak'],
  ],
])('%j changes %j', (command, expected) => {
  expect(changes(command)).toEqual(expected)
})

test.each<[string, string, string[]]>([
  ['echo x > a.ts && npm test', 'Exit code 1\n1 failed', ['write a.ts']],
  ['npm test > test.log', 'Exit code 1', ['write test.log']],
  ['rm a.ts && rm b.ts', "Exit code 1\nrm: cannot remove 'b.ts': No such file or directory", ['remove a.ts']],
  ['rm a.ts b.ts', "Exit code 1\nrm: cannot remove 'a.ts': No such file or directory", ['remove b.ts']],
  ['npm test && rm a.ts', 'Exit code 1\n1 failed', []],
  ['rm a.ts', 'Exit code 1', []],
  ['mv a.ts src/', "Exit code 1\nmv: target 'src/': No such file or directory", []],
  ['echo x > src/a.ts', 'Exit code 1\nbash: line 1: src/a.ts: No such file or directory', []],
  ['cd src && rm a.ts', 'Exit code 1\nbash: line 1: cd: src: No such file or directory', []],
])('%j, which failed with %j, changes %j', (command, output, expected) => {
  expect(changes(command, failed(output))).toEqual(expected)
})

test.each([
  ['what another command decides', 'make; test -d src || rm a.ts', ''],
  ['what failed without a word', 'rm a.ts 2>/dev/null; echo done', ''],
  ['what said that it failed', 'rm a.ts; echo done', "rm: cannot remove 'a.ts': Permission denied\ndone"],
  ['a loop over what only a shell knows', 'for f in *.ts; do rm "$f"; done', ''],
  ['a loop in a loop', 'for f in a b; do for g in c d; do rm "$f"; done; done', ''],
])('%s is not known to change a file', (_, command, output) => {
  expect(changes(command, { output })).toEqual([])
})

test('a call that did not run changes nothing', () => {
  expect(changes('rm a.ts', { hasSucceeded: false, hasRun: false })).toEqual([])
})

test('never throws or takes long for any line', () => {
  const parts = fc.constantFrom(
    'for f in a',
    '; do',
    'done',
    '"$f"',
    'if ',
    'fi',
    '&&',
    '||',
    ';',
    '(',
    ')',
    '\\\n',
    'rm a',
  )
  fc.assert(
    fc.property(fc.array(fc.oneof(parts, fc.string()), { maxLength: 60 }), fc.string(), (words, output) => {
      expect(changes(words.join(' '), { output })).toBeInstanceOf(Array)
    }),
  )
  const startedMs = performance.now()
  for (const part of ['for f in ', 'do ', 'if ', '$f', '( ', 'rm a; '])
    changes(part.repeat(3_000), { output: 'rm: a '.repeat(50_000) })
  expect(performance.now() - startedMs).toBeLessThan(2_000)
})
