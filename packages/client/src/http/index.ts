/*
 * The SDK for programs that reach Heddle over HTTP. Nothing here imports a database driver or a queue, which a test
 * checks.
 */
export { type ErrorCode, HeddleError, PermanentError, RetryableError } from '@heddle/contracts'
export type { RemoteAppendOptions } from './append.js'
export { createClient } from './client.js'
export type { RemoteClient } from './remote-client.js'
export type { TransportOptions as HttpClientOptions } from './transport.js'
