export type { ByteSource } from './byte-source.js'
export { parseSession } from './parse.js'
export { type ParsedFile, type ParsedMessage, type ParsedThread, type SessionFormat, sessionFormats } from './parsed.js'
export {
  type ReadSessionOptions,
  readSession,
  type Session,
  type SessionMessage,
  type SessionThread,
} from './session.js'
