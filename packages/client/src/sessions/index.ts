export { type ParseSessionOptions, parseSession } from './parse.js'
export {
  type MessageDraft,
  type ParsedFile,
  type ParsedMessage,
  type ParsedThread,
  type SessionFormat,
  sessionFormats,
} from './parsed.js'
