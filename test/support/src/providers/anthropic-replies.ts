import { blocksOf } from './anthropic-rules.js'
import { type Fields, listOf } from './fields.js'

/** The replies of an Anthropic model, remembered by their calls: inside of a tool loop their reasoning has to come again unchanged. */
export class AnthropicReplies {
  readonly #thinking = new Map<string, string>()

  /** Remembers the content of a reply. */
  issue(content: readonly Fields[]): void {
    for (const { type, id } of content) if (type === 'tool_use') this.#thinking.set(String(id), thinkingIn(content))
  }

  /** Faults of the reasoning in the current loop of a request with thinking: it is as it was issued, neither changed nor removed. */
  faults(body: Fields): string[] {
    const { thinking } = body
    const messages = listOf(body['messages'])
    if (thinking === undefined || JSON.stringify(thinking) === '{"type":"disabled"}') return []
    const begin = messages.findLastIndex(
      ({ role, content }) => role === 'user' && !blocksOf(content).some(({ type }) => type === 'tool_result'),
    )
    return messages.flatMap(({ role, content }, index) => {
      const blocks = blocksOf(content)
      const call = blocks.find(({ type, id }) => type === 'tool_use' && this.#thinking.has(String(id)))
      if (index <= begin || role !== 'assistant' || call === undefined) return []
      const issued = this.#thinking.get(String(call['id']))
      const found = thinkingIn(blocks)
      if (found === issued) return []
      return found === '[]'
        ? [
            `messages.${index}: expected \`thinking\`, found \`${String(blocks[0]?.['type'])}\`: it was removed inside a tool loop`,
          ]
        : [`messages.${index}: \`thinking\` blocks of a tool loop cannot be modified`]
    })
  }
}

function thinkingIn(blocks: readonly Fields[]): string {
  const parts = blocks.filter(({ type }) => type === 'thinking' || type === 'redacted_thinking')
  return JSON.stringify(parts.map(({ thinking, signature, data }) => [thinking, signature, data]))
}
