import { readBeam } from './beam.js'
import { readCoding } from './coding.js'
import type { Conversation, ConversationKind } from './conversation.js'
import { readLocomo } from './locomo.js'

export async function readConversations(dataDir: string, kind: ConversationKind): Promise<Conversation[]> {
  if (kind === 'beam') return readBeam(dataDir)
  return kind === 'locomo' ? readLocomo(dataDir) : await readCoding(dataDir)
}
