export { afterEachFile } from './after-file.js'
export { backends, type TestBackend } from './backends.js'
export {
  type FreshDatabase,
  freshDatabase,
  freshPrefix,
  migratedDatabase,
  postgresUrl,
  QUEUE_PREFIX,
  redisUrl,
} from './databases.js'
export { evalData } from './eval-data.js'
export type { TestServers } from './provided.js'
export { type SpawnedNode, type SpawnNodeOptions, spawnNode } from './spawn-node.js'
export { type WaitForOptions, waitFor } from './wait-for.js'
