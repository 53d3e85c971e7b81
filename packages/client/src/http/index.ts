/*
 * The SDK for programs that reach Heddle over HTTP. Nothing here leads to a database driver or a queue: a test holds it to
 * that.
 */
export { type ErrorCode, HeddleError, PermanentError, RetryableError } from '@heddle/contracts'
export type { RemoteAppendOptions } from './append.js'
export { createClient } from './client.js'
export type { RemoteClient } from './remote-client.js'
export type { TransportOptions as HttpClientOptions } from './transport.js'
