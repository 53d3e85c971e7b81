import type { Expansion, JsonObject } from '@heddle/contracts'
import { objectsIn, parseObject, textIn } from '../provider-requests/blocks.js'
import { RECALL_TOOL } from '../provider-requests/recall-tool.js'

/** The references that a model recalled in a reply, as it wrote them; other texts of the reply are left out. */
export function recalledReferences({ entries }: Pick<Expansion, 'entries'>): string[] {
  return entries.flatMap((text) => {
    const entry = parseObject(text) ?? {}
    const ofBlocks = objectsIn(entry['content']).flatMap((block) => referenceIn(block['name'], block['input']))
    const ofCalls = objectsIn(entry['tool_calls']).flatMap(({ function: called }) => {
      const { name, arguments: input } = (called ?? {}) as JsonObject
      return referenceIn(name, parseObject(textIn(input) ?? ''))
    })
    return [...ofBlocks, ...ofCalls]
  })
}

function referenceIn(name: unknown, input: unknown): string[] {
  const ref = (input as JsonObject | null)?.['ref']
  const found = name === RECALL_TOOL && typeof ref === 'string' ? /msg-[0-9a-z]+(?::[\w-]+)?/.exec(ref)?.[0] : undefined
  return found === undefined ? [] : [found]
}
