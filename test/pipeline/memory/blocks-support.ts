import type { Client } from '@heddle/client/interface'
import { type BlockKey, type ContextResult, HeddleError, type MemoryBlock } from '@heddle/contracts'

/** The messages of a context by section, as they are delivered. */
export function sectionsOf({ messages, receipt }: ContextResult) {
  const blocks = (section: string) =>
    receipt.entries.flatMap((entry) => (entry.section === section && entry.block ? [entry.block] : []))
  return {
    stable: blocks('blocks'),
    changes: blocks('block-changes'),
    texts: messages.map(({ content }) => String(content)),
  }
}

/** The current block of a refused change. */
export function currentIn(error: unknown): MemoryBlock {
  if (!(error instanceof HeddleError) || error.code !== 'CONFLICT') throw error
  return error.facts?.['current'] as MemoryBlock
}

/** All versions of a block, the oldest first. */
export async function history(client: Client, key: BlockKey): Promise<MemoryBlock[]> {
  const all: MemoryBlock[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await client.blocks.history(key, { limit: 25, ...(cursor !== undefined && { cursor }) })
    all.push(...page.items)
    cursor = page.nextCursor
  }
  return all.reverse()
}
