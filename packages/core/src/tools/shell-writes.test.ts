import fc from 'fast-check'
import { expect, test } from 'vitest'
import { shellWrites } from './shell-writes.js'

const written = (command: string) => shellWrites(command).map(({ path, gone }) => (gone ? `-${path}` : path))

test.each<[string, string[]]>([
  ["sed -i 's/a/b/' a.ts", ['a.ts']],
  ["sed -i '' -e 's/a/b/' a.ts b.ts", ['a.ts', 'b.ts']],
  ["sed -i.bak 's/a/b/' 'my file.ts'", ['my file.ts']],
  ["perl -pi -e 's/a/b/' a.ts", ['a.ts']],
  ['echo x > a.ts', ['a.ts']],
  ['echo x >>a.ts 2>&1', ['a.ts']],
  ['make 2> errors.log', ['errors.log']],
  ['make > /dev/null 2>&1', []],
  ['make | tee -a build.log', ['build.log']],
  ["cat > a.ts << 'EOF'\nit's > b.ts && rm c.ts\nEOF", ['a.ts']],
  ['cat <<-END >a.ts\n\tx\n\tEND\nrm b.ts', ['-b.ts']],
  ['mv a.ts b.ts', ['-a.ts', 'b.ts']],
  ['cp a.ts b.ts', ['b.ts']],
  ['rm -rf src/old build', ['-src/old', '-build']],
  ['git checkout -- a.ts', ['a.ts']],
  ['git rm --cached a.ts', []],
  ['cd /repo/src && rm ../a.ts', ['-/repo/a.ts']],
  ['cd src && sed -i s/a/b/ a.ts && go test', ['src/a.ts']],
])('%s writes %j', (command, expected) => {
  expect(written(command)).toEqual(expected)
})

test.each([
  ['what may not have run', 'make || rm a.ts'],
  ['what may have failed without a word', 'rm a.ts; echo done'],
  ['the middle of a pipeline', 'tee a.ts | head'],
  ['a variable', 'rm "$FILE"'],
  ['a glob', 'rm src/*.ts'],
  ['braces', 'rm src/{a,b}.ts'],
  ['a loop', 'for f in a.ts; do rm a.ts; done'],
  ['a condition', 'if true; then rm a.ts; fi'],
  ['a group', '(rm a.ts)'],
  ['a job in the background', 'rm a.ts &'],
  ['a folder that nobody knows', 'cd "$DIR" && rm a.ts'],
  ['a folder that may not have been reached', 'cd src; rm a.ts'],
  ['a quoted command', "echo 'rm a.ts > b.ts'"],
  ['a comment', 'make # rm a.ts\n'],
  ['a substitution with quotes', 'git commit -m "$(cat <<\'EOF\'\nrm a.ts\nEOF\n)"'],
  ['a text without its end', 'cat > a.ts <<EOF\nx'],
])('%s names no file', (_, command) => {
  expect(written(command)).toEqual([])
})

test.each(['\u00a0', '\u2028', '\u3000', '\f', '\v', '\ufeff'])(
  'white space that does not separate words in a shell, %j, is part of a word',
  (space) => {
    expect(written(`rm a${space}b.ts`)).toEqual([`-a${space}b.ts`])
    expect(written(`${space}rm a.ts && rm b.ts`)).toEqual(['-b.ts'])
  },
)

test('never throws or takes long for any command line', () => {
  const parts = fc.constantFrom(
    '"',
    "'",
    '$(',
    '`',
    '<<EOF\n',
    '>',
    '&&',
    '||',
    '|',
    ';',
    '\\',
    'rm a',
    'cd x',
    '\n',
    '$',
    '{',
    ')',
  )
  fc.assert(
    fc.property(fc.array(fc.oneof(parts, fc.string()), { maxLength: 60 }), (words) => {
      expect(shellWrites(words.join(' '))).toBeInstanceOf(Array)
    }),
  )
  const startedMs = performance.now()
  for (const part of ['a ', '"', '$(', '<<E\n', '> a ', '$x', '\\', "'a'", '[']) shellWrites(part.repeat(60_000))
  expect(performance.now() - startedMs).toBeLessThan(2_000)
})
