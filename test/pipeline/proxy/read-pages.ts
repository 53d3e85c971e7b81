/** A message of Anthropic's Messages API. */
export interface Message {
  readonly role: string
  readonly content: unknown
}

export const page = (number: number, lines = 1_000): string =>
  Array.from({ length: lines }, (_, line) => `page ${number}, line ${line}: some words of it`).join('\n')

/** A conversation that begins with a question; each step adds a call and its result, a page. */
export function conversation(steps: number, lines?: number): Message[] {
  const messages: Message[] = [{ role: 'user', content: 'Read the pages.' }]
  for (let step = 0; step < steps; step++) {
    const call = { type: 'tool_use', id: `toolu_${step}`, name: 'read_page', input: { page: step } }
    const result = { type: 'tool_result', tool_use_id: `toolu_${step}`, content: page(step, lines) }
    messages.push({ role: 'assistant', content: [{ type: 'text', text: `Page ${step}.` }, call] })
    messages.push({ role: 'user', content: [result] })
  }
  return messages
}
