export type { HeddleSessionOptions } from './options.js'
export { HeddleSession } from './session.js'
export { SessionError } from './transaction.js'
