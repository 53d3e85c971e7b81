export {
  COMPACTED,
  type CompactionReply,
  compactionReply,
  type ExpandedRequest,
  expandCompactions,
} from './compaction-reply.js'

import type { Protocol } from '../provider-requests/protocol.js'
import { AnthropicFilter } from './anthropic-filter.js'
import { ChatFilter } from './chat-filter.js'
import type { ReplyFilter } from './reply-filter.js'

export { type AnsweredPart, entriesToContinue, expansionOf } from './recalled-reply.js'
export type { RecallCall, ReplyFilter, ReplyPart } from './reply-filter.js'
export { dataIn, type ServerEvent, ServerEventReader } from './server-events.js'
export { joinReplies, readWholeReply, type WholePart } from './whole-reply.js'

/** The filter of a protocol's streams; null if the proxy's own tool is not offered there. */
export function replyFilterOf(protocol: Protocol): ReplyFilter | null {
  if (protocol === 'anthropic') return new AnthropicFilter()
  return protocol === 'openai-chat' ? new ChatFilter() : null
}
