export { afterEachFile } from './after-file.js'
export type { TestServers } from './provided.js'
export { evalData } from './samples/eval-data.js'
export { backends, type TestBackend } from './servers/backends.js'
export {
  type FreshDatabase,
  freshDatabase,
  freshPrefix,
  migratedDatabase,
  postgresUrl,
  QUEUE_PREFIX,
  redisUrl,
} from './servers/databases.js'
export { type SpawnedNode, type SpawnNodeOptions, spawnNode } from './spawn-node.js'
export { type WaitForOptions, waitFor } from './wait-for.js'
