import { type AgentInputItem, type Model, type ModelRequest, type ModelResponse, Usage } from '@openai/agents'

/** A model that replies by a script, and records its inputs. */
export function scriptedAgentModel(
  reply: (input: readonly AgentInputItem[], count: number) => ModelResponse['output'],
) {
  const inputs: AgentInputItem[][] = []
  const model: Model = {
    async getResponse({ input }: ModelRequest) {
      const items: AgentInputItem[] = typeof input === 'string' ? [{ role: 'user', content: input }] : input
      inputs.push(structuredClone(items))
      return { usage: new Usage(), output: reply(items, inputs.length) }
    },
    getStreamedResponse(): AsyncIterable<never> {
      throw new Error('not scripted')
    },
  }
  return { model, inputs }
}

/** A reply with a text. */
export const saysText = (said: string): ModelResponse['output'] => [
  { type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: said }] },
]

/** A reply that calls a tool. */
export const callsTool = (id: string, name: string, given: object): ModelResponse['output'] => [
  { type: 'function_call', callId: id, name, status: 'completed', arguments: JSON.stringify(given) },
]

/** The text of each item, or its type. */
export const textsOf = (items: readonly AgentInputItem[]) =>
  items.flatMap((item) => {
    if (!('role' in item)) return [item.type]
    if (typeof item.content === 'string') return [item.content]
    return item.content.map((part) => ('text' in part ? part.text : part.type))
  })

/** The calls without a result, and the results without a call. */
export function openIn(items: readonly AgentInputItem[]): string[] {
  const open = new Set<string>()
  const orphans: string[] = []
  for (const item of items) {
    if (!('callId' in item) || typeof item.callId !== 'string') continue
    if (!/output|result/.test(item.type)) open.add(item.callId)
    else if (!open.delete(item.callId)) orphans.push(item.callId)
  }
  return [...orphans, ...open]
}
