export { makeFolder, unusableFolder } from './data-folder.js'
export { type EmbeddedPostgres, type EmbeddedPostgresOptions, startEmbeddedPostgres } from './start.js'
