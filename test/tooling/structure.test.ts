import { describe, expect, it, onTestFinished } from 'vitest'
import { parseScript } from './structure/checkout.js'
import { circlesOf } from './structure/circles.js'
import { paraphrases } from './structure/docstrings.js'
import { importsOf } from './structure/imports.js'
import { repeatsIn } from './structure/repeats.js'
import { sampleOf } from './structure/sample.js'
import { conditionalSpreads } from './structure/spreads.js'

const script = (path: string, text: string) => parseScript(path, text)

describe('imports', () => {
  it('are followed through relative paths and entry points of packages; imports of types and late imports are separate', () => {
    const manifest = JSON.stringify({
      name: '@heddle/b',
      exports: { '.': { 'heddle:source': './src/index.ts' }, './*': { 'heddle:source': './src/*.ts' } },
    })
    const scripts = [
      script('packages/a/src/one.ts', "import { x } from './two.js'\nimport type { Y } from '@heddle/b'\n"),
      script('packages/a/src/two.ts', "export { type Z } from '@heddle/b/part'\nawait import('./one.js')\n"),
      script('packages/b/src/index.ts', "import 'node:fs'\n"),
      script('packages/b/src/part.ts', ''),
    ]
    const paths = [...scripts.map(({ path }) => path), 'packages/b/package.json']
    expect(importsOf({ root: '', paths, scripts, read: () => manifest })).toEqual([
      { from: 'packages/a/src/one.ts', to: 'packages/a/src/two.ts', isType: false },
      { from: 'packages/a/src/one.ts', to: 'packages/b/src/index.ts', isType: true },
      { from: 'packages/a/src/two.ts', to: 'packages/b/src/part.ts', isType: true },
      { from: 'packages/a/src/two.ts', to: 'packages/a/src/one.ts', isType: true },
    ])
  })

  it('that form a circle are reported with all members of the circle', () => {
    const edges = ['ab', 'bc', 'ca', 'cd', 'de', 'ed', 'fa'].map(([from = '', to = '']) => ({ from, to }))
    expect(circlesOf(edges).map((circle) => circle.join(''))).toEqual(['de', 'abc'])
    expect(circlesOf(edges.filter(({ to }) => to !== 'a' && to !== 'd'))).toEqual([])
  })
})

describe('repeated blocks', () => {
  const block = Array.from({ length: 12 }, (_, index) => `  step${index}(one, ${index})`)

  it('are found across files from twelve lines on, whatever their indentation, comments and blank lines', () => {
    const one = script('packages/a/src/one.ts', `${block.join('\n')}\nend()\n`)
    const two = script('packages/a/src/two.ts', `begin()\n${block.join('\n// A remark.\n\n  ')}\n`)
    expect(repeatsIn([one, two])).toEqual([
      { lines: 12, places: ['packages/a/src/one.ts:1', 'packages/a/src/two.ts:2'] },
    ])
    expect(repeatsIn([one, script('packages/a/src/two.ts', block.slice(1).join('\n'))])).toEqual([])
  })

  it('are found under other names when only their shapes are compared, unless they are tables', () => {
    const body = ['if (a) return b', 'for (const a of b) {', 'await a(b)', 'try {', 'a.b = c', '} catch (a) {']
    const rest = ['throw new A(b)', '}', 'return a.b(c, d)', 'while (a < b) a++', 'a(() => b)', 'const [a] = b']
    const named = (name: string) => [...body, ...rest].join('\n').replaceAll(/\ba\b/g, name)
    const scripts = [script('packages/a/src/one.ts', named('first')), script('packages/a/src/two.ts', named('second'))]
    expect(repeatsIn(scripts)).toEqual([])
    expect(repeatsIn(scripts, 'shapes')).toHaveLength(1)
    expect(repeatsIn([script('packages/a/src/one.ts', block.join('\n').repeat(3))], 'shapes')).toEqual([])
  })
})

describe('figures', () => {
  it('count only spreads of objects that can be absent', () => {
    const source = 'const a = { ...(b && { b }), ...(c ? { c } : {}), ...(d ? e : f), ...g }\ncall(...(h && i))\n'
    expect(conditionalSpreads(script('a.ts', source))).toBe(2)
  })

  it.each([
    ['The id of a project.', 'export function projectId(name: string): string', true],
    ['Loads the messages of a thread.', 'function loadThreadMessages(id: string)', true],
    ['The id of a project, which never changes.', 'const projectId: string', false],
    ['Rows that a page holds; 50 unless given.', 'const pageRows = 50', false],
  ])('count a docstring as a paraphrase when it adds nothing to the signature: %s', (text, signature, expected) => {
    expect(paraphrases(text, signature)).toBe(expected)
  })

  it('sample the same texts for the same seed, with the same number of each kind', () => {
    const texts = (['comment', 'help', 'log', 'error', 'title'] as const).flatMap((kind) =>
      Array.from({ length: 9 }, (_, line) => ({
        path: 'packages/a/src/a.ts',
        line,
        kind,
        text: 'four words are enough',
      })),
    )
    const drawn = sampleOf(texts, 8, 1)
    expect(drawn.map(({ kind }) => kind)).toEqual([
      'comment',
      'comment',
      'help',
      'help',
      'log',
      'log',
      'error',
      'error',
    ])
    expect(sampleOf(texts, 8, 1)).toEqual(drawn)
    expect(sampleOf(texts, 8, 2)).not.toEqual(drawn)
  })
})

describe('a walk', () => {
  it('has a probe at the start of each function, which reports the file and the name', async () => {
    const path = new URL('./structure/walk/probe-hooks.mjs', import.meta.url).href
    const { withProbes }: { withProbes(place: string, source: string): string } = await import(path)
    const source = `class Sum { constructor() { this.add = (a) => a + 1 } get two() { return this.add(1) } }
const twice = (a) => ({ a, b: [a].map((x) => x) })
return twice(new Sum().two).b[0]`
    const calls: string[] = []
    Reflect.set(globalThis, 'heddleProbe', (place: string, name: string) => calls.push(`${place} ${name}`))
    onTestFinished(() => void Reflect.deleteProperty(globalThis, 'heddleProbe'))
    expect(new Function(withProbes('a.js', source))()).toBe(2)
    expect(calls).toEqual(['a.js new Sum', 'a.js two', 'a.js Sum', 'a.js twice', 'a.js b'])
  })
})
