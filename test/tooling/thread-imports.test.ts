import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { expect, test } from 'vitest'

const thread = fileURLToPath(new URL('../../packages/host/src/job-threads/thread.ts', import.meta.url))

/** Libraries that a thread for large jobs has no use for: each thread would load them again. */
const UNUSED = /^(?:bullmq|ioredis|pg|drizzle-orm\/(?:postgres-js|pg-core).*|drizzle-orm)$/

/** The modules of libraries that are loaded with a module, in its own package or in those that it imports. */
async function loadedWith(entry: string): Promise<Set<string>> {
  const { metafile } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    metafile: true,
    outdir: 'unused',
    format: 'esm',
    platform: 'node',
    splitting: true,
    conditions: ['heddle:source'],
    plugins: [
      {
        name: 'libraries are external',
        setup: ({ onResolve }) =>
          void onResolve({ filter: /^[^./]/ }, ({ path }) =>
            path.startsWith('@heddle/') ? null : { path, external: true },
          ),
      },
    ],
  })
  const seen = new Set<string>()
  const libraries = new Set<string>()
  const open = Object.keys(metafile.inputs).filter((path) => path.endsWith('job-threads/thread.ts'))
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (seen.has(path)) continue
    seen.add(path)
    for (const imported of metafile.inputs[path]?.imports ?? []) {
      if (imported.kind === 'dynamic-import') continue
      if (imported.external === true) libraries.add(imported.path)
      else open.push(imported.path)
    }
  }
  return libraries
}

test('a thread for large jobs loads no library of queues or migrations', async () => {
  const libraries = await loadedWith(thread)
  expect([...libraries]).toContain('postgres')
  expect([...libraries].filter((path) => UNUSED.test(path))).toEqual([])
})
