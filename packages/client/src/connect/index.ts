export { type ErrorCode, HeddleError, PermanentError, RetryableError } from '@heddle/contracts'
export type { RemoteClient } from '../http/remote-client.js'
export { connect } from './connect.js'
export type {
  Connection,
  ConnectOptions,
  EngineModule,
  OpenClientOptions,
  OpenedClient,
  QueueOptions,
} from './options.js'
export { findUp, type RunningUp, readUp, UP_FILE } from './running-up.js'
