import { readdirSync, readFileSync } from 'node:fs'

const folder = new URL('./', import.meta.url)

/** Opens queues on the first server of the Vitest project. */
const ON_ONE = /\b(openPipeline|pipelineOfTests|queueOfProject)\(\)|\bservePipeline\(/
/** Has a suite for each server of the Vitest project. */
const ON_EACH = /\b(modes|queueBackends)\(\)/

/**
 * Suites whose work passes through queues and that name no server for them, by their paths in the repository. They run on Postgres
 * with the others, and once more on Redis in the Vitest project `redis`, because a second run would double the time of
 * `npm test`. Those that take long and have a suite for each server run on both at once.
 */
export const onEitherQueue: readonly string[] = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.ts'))
  .filter((file) => {
    const text = readFileSync(new URL(file, folder), 'utf8')
    return ON_ONE.test(text) || (ON_EACH.test(text) && !file.endsWith('.slow.test.ts'))
  })
  .map((file) => `test/pipeline/${file}`)
