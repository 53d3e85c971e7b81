import { defineConfig } from 'vitest/config'

/**
 * Workspace packages resolve to their sources, so that tests need no build. `import` must not stand here: Vitest hands the
 * conditions to Node, and then CommonJS packages such as `pg` get modules where they `require`.
 */
const resolve = { conditions: ['heddle:source', 'node'] }
const ssr = { resolve }
/** Every run of the tests searches the same cases, unless told otherwise. */
const propertySeed = new URL('test/support/src/property-seed.ts', import.meta.url).pathname
const fileSetup = new URL('test/support/src/file-setup.ts', import.meta.url).pathname
const setupFiles = [propertySeed, fileSetup]
/** Vitest runs its global setup in an environment of its own. */
const environments = { __vitest__: { resolve } }

/** Servers and processes that break and start many times, and journeys to their end: `npm run verify`, and CI. */
const slow = 'test/**/*.slow.test.ts'

export default defineConfig({
  test: {
    // Most of these tests wait for servers and processes: more files at once than cores save a third of the time.
    maxWorkers: 3,
    projects: [
      {
        resolve,
        ssr,
        environments,
        test: {
          setupFiles,
          name: 'unit',
          // Most of what these tests need is loading modules, which files that run in one process share.
          isolate: false,
          // Properties try hundreds of cases, and a machine may be busy with other things.
          testTimeout: 30_000,
          include: [
            'packages/*/src/**/*.test.ts',
            'services/*/src/**/*.test.ts',
            'test/soak/**/*.test.ts',
            'test/{bench,chaos,eval,support}/src/**/*.test.ts',
            'test/fuzz/**/*.test.ts',
            'test/growth/**/*.test.ts',
            'test/tooling/**/*.test.ts',
            'test/upgrade/**/*.test.ts',
          ],
        },
      },
      {
        resolve,
        ssr,
        environments,
        test: {
          setupFiles,
          name: 'contract',
          isolate: false,
          include: ['test/contract/**/*.test.ts'],
          exclude: [slow],
          globalSetup: ['test/support/src/servers.ts'],
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
      {
        resolve,
        ssr,
        environments,
        test: {
          setupFiles,
          name: 'pipeline',
          isolate: false,
          include: ['test/pipeline/**/*.test.ts'],
          exclude: [slow, 'test/pipeline/isolation/isolation.test.ts'],
          globalSetup: ['test/support/src/servers.ts'],
          testTimeout: 120_000,
          hookTimeout: 60_000,
        },
      },
      {
        resolve,
        ssr,
        environments,
        test: {
          setupFiles,
          name: 'slow',
          isolate: false,
          include: [slow],
          globalSetup: ['test/support/src/servers.ts'],
          testTimeout: 120_000,
          hookTimeout: 60_000,
        },
      },
      {
        resolve,
        ssr,
        environments,
        test: {
          setupFiles,
          // Takes a check out of the code, and so needs modules of its own.
          name: 'attack',
          include: ['test/pipeline/isolation/isolation.test.ts'],
          globalSetup: ['test/support/src/servers.ts'],
          testTimeout: 120_000,
          hookTimeout: 60_000,
        },
      },
      {
        resolve,
        ssr,
        environments,
        test: {
          setupFiles,
          // Kills processes and empties queues, which takes minutes: `npm run faults`, and CI.
          name: 'faults',
          include: ['test/faults/**/*.test.ts'],
          globalSetup: ['test/support/src/servers.ts'],
          testTimeout: 180_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
})
