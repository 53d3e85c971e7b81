import { type SpawnedNode, spawnNode } from '@heddle/test-support'
import type { Pipeline } from '../pipeline/support.js'

/** All workers in a process of their own, for tests that kill it. */
export async function startWorkers({ queueBackend, prefix, databaseUrl }: Pipeline): Promise<SpawnedNode> {
  const parameters = [queueBackend.kind, queueBackend.url, prefix, databaseUrl]
  const workers = spawnNode(new URL('./workers-process.ts', import.meta.url), { parameters })
  await workers.line(/^ready$/, 60_000)
  return workers
}
