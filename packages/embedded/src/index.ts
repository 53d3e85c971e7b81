export { makeFolder, unusableFolder } from './data-folder.js'
export { holdsCluster } from './holds-cluster.js'
export { type EmbeddedPostgres, type EmbeddedPostgresOptions, startEmbeddedPostgres } from './start.js'
