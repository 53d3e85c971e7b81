import { defineConfig } from 'vitest/config'

/**
 * Workspace packages resolve to their sources, so that tests need no build. `import` must not stand here: Vitest hands the
 * conditions to Node, and then CommonJS packages such as `pg` get modules where they `require`.
 */
const resolve = { conditions: ['heddle:source', 'node'] }
const ssr = { resolve }

export default defineConfig({
  test: {
    projects: [
      {
        resolve,
        ssr,
        test: {
          name: 'unit',
          include: ['packages/*/src/**/*.test.ts', 'services/*/src/**/*.test.ts', 'test/tooling/**/*.test.ts'],
        },
      },
      {
        resolve,
        ssr,
        test: {
          name: 'contract',
          include: ['test/contract/**/*.test.ts'],
          globalSetup: ['test/support/src/servers.ts'],
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
      {
        resolve,
        ssr,
        test: {
          name: 'pipeline',
          include: ['test/pipeline/**/*.test.ts'],
          globalSetup: ['test/support/src/servers.ts'],
          testTimeout: 120_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
})
