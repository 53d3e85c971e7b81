import { describe, expect, it } from 'vitest'
import { parseScript } from './structure/checkout.js'
import { scriptTexts } from './structure/texts.js'
import { reservedIn, wordRules } from './structure/words.js'
import { type Ceilings, looseCeilings, problemsOf } from './tidy/ceilings.js'
import { crowdedFolders, FOLDER_FILES_MAX } from './tidy/crowded-folders.js'
import { longCommentLines } from './tidy/findings.js'
import { deadLinks, pageLinks } from './tidy/links.js'
import { unnamedFiles } from './tidy/unnamed-files.js'

describe('a ceiling', () => {
  const findings = [{ rule: 'word room', advice: 'say: capacity', places: ['a.ts:1: x', 'a.ts:2: y'] }]
  const problems = (ceilings: Ceilings) => problemsOf(findings, ceilings)

  it('that is exceeded is a problem, which names the places and the advice', () => {
    expect(problems({ 'word room': 1 })).toEqual([
      'word room: 2 found, the ceiling is 1; say: capacity\n  a.ts:1: x\n  a.ts:2: y',
    ])
    expect(problems({})).toHaveLength(1)
  })

  it('that is higher than the count is named, and is not a problem', () => {
    expect(looseCeilings(findings, { 'word room': 3 })).toEqual([
      'word room: 2 found, the ceiling is 3; lower it: npm run tidy -- --write',
    ])
    expect(problems({ 'word room': 3 })).toEqual([])
    expect(looseCeilings(findings, { 'word room': 2 })).toEqual([])
  })
})

describe('a reserved word', () => {
  const rulesIn = (text: string, path = 'packages/queue/src/a.ts') =>
    reservedIn({ text, path }).map(({ rule }) => rule.name)

  it.each([
    ['tell', 'events that were not told'],
    ['who-asks', 'as large as whoever asks for it can read'],
    ['letter', 'Letters in one transaction'],
    ['word', 'it closes without a word'],
    ['room', 'Takes room for a caller'],
    ['turn', 'so that others get their turn'],
    ['keep-house', 'kept house'],
    ['none', 'null where there is none'],
    ['clause-subject', 'A limit. Who waits has taken a place already.'],
    ['what-opening', 'What the parts share.'],
    ['give-back', 'gives its lease back'],
    ['take-up', 'another worker takes the job up'],
    ['stand', 'how a thread stands'],
    ['look', 'since the last look'],
    ['weave', 'threads woven into one'],
  ])('%s is found in prose: %s', (rule, text) => {
    expect(rulesIn(text)).toContain(rule)
  })

  it('has an example of each rule above', () => {
    expect(wordRules).toHaveLength(15)
  })

  it.each([
    'a dead letter, an assistant turn and a result in turn',
    'the default is `none`, and none of these',
    'it stands for a standalone process that is still standing by',
    'What is a lane?',
    '`room`, "room", {@link Room} and room_limit',
    'the look-up of a keyword, and a new look-back',
  ])('is not reported in its proper meaning or in a name: %s', (text) => {
    expect(rulesIn(text)).toEqual([])
  })

  it('called letter is reported only in paths about queues', () => {
    expect(rulesIn('letters and digits', 'packages/core/src/a.ts')).toEqual([])
  })
})

describe('the texts of a script', () => {
  const texts = (source: string, path = 'packages/core/src/a.ts') =>
    scriptTexts(parseScript(path, source)).map(({ kind, line, text }) => [kind, line, text])

  it('are comments, log messages, errors, help and other output, each with its line', () => {
    expect(
      texts(`/** The first. */
// One,
// two.
log.warn({ id }, 'a job failed')
throw new PermanentError('NOT_FOUND', \`no thread \${name} here\`, { hint: 'Give its ' + 'name.' })
command.option('--a-flag', 'rows of a page')
const name = 'not prose'
print('three words here')
`),
    ).toEqual([
      ['docstring', 1, 'The first.'],
      ['comment', 2, 'One, two.'],
      ['log', 4, 'a job failed'],
      ['error', 5, 'no thread … here'],
      ['error', 5, 'Give its name.'],
      ['help', 6, 'rows of a page'],
      ['output', 8, 'three words here'],
    ])
  })

  it('are only titles and comments in a test, whatever its strings hold', () => {
    expect(
      texts(
        `it.each([['some words of data']])('adds %s', () => {
  append('a message of words') // Twice.
  const url = 'http://x/y'
})
`,
        'packages/core/src/a.test.ts',
      ),
    ).toEqual([
      ['comment', 2, 'Twice.'],
      ['title', 1, 'adds %s'],
    ])
  })

  it('do not include SQL statements and commands to tools', () => {
    expect(texts('// biome-ignore lint/a: b\nsql`select all of it`\nrun(`SELECT a FROM all the rows`)\n')).toEqual([])
  })
})

describe('files', () => {
  const checkout = (files: Readonly<Record<string, string>>) => ({
    root: '',
    paths: Object.keys(files),
    scripts: [],
    read: (path: string) => files[path] ?? '',
  })

  it('are counted by folder, without tests beside sources, and too many are reported', () => {
    const files = Array.from({ length: FOLDER_FILES_MAX + 1 }, (_, index) => `packages/core/src/room/file-${index}.ts`)
    expect(crowdedFolders(files)).toEqual(['packages/core/src/room: 26'])
    expect(crowdedFolders(files.slice(1))).toEqual([])
    expect(crowdedFolders([...files.slice(1), 'packages/core/src/room/file.test.ts'])).toEqual([])
  })

  it('with links to a missing file or anchor are reported', () => {
    const pages = checkout({
      'README.md': '[a](docs/a.md#one) [b](docs/a.md#two) [c](docs) [d](none.md) [e](https://x.y)\n\n`[f](no.md)`\n',
      'docs/a.md': '# One\n\n[up](../README.md) [own](#one) [lost](#two)\n',
    })
    expect(deadLinks(pages).map(({ page, target }) => `${page}: ${target}`)).toEqual([
      'README.md: docs/a.md#two',
      'README.md: none.md',
      'docs/a.md: #two',
    ])
    expect(pageLinks('a/b.md', '\n[x](../c.md)')).toEqual([
      { page: 'a/b.md', line: 2, target: '../c.md', path: 'c.md', anchor: '' },
    ])
  })

  it('without a link from a page and a mention in a file are reported', () => {
    const files = checkout({
      'README.md': '[a](docs/a.md), and `run.mjs`',
      'docs/a.md': '# A',
      'docs/b.md': '[itself](b.md)',
      'test/run.mjs': '',
      'test/lost.mjs': '',
      'test/lost.ts': '',
    })
    expect(unnamedFiles(files)).toEqual(['docs/b.md', 'test/lost.mjs'])
  })

  it('with comment lines over 140 characters are reported with the line', () => {
    const long = `// ${'x'.repeat(140)}`
    expect(longCommentLines(parseScript('a.ts', `${long}\nconst a = '${'x'.repeat(150)}'\n`))).toEqual([
      'a.ts:1: 143 characters',
    ])
  })
})
