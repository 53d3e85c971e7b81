import type { RemoteClient } from '@heddle/client/http'

/** The state of the graph: ids and decisions. The messages stay in Heddle, so a checkpoint is small. */
export interface GraphState {
  readonly thread: string
  readonly next: string
  readonly steps: number
}

export type GraphNode = (state: GraphState) => Promise<GraphState>

const END = 'end'
const STEPS_MAX = 20

/** Runs nodes until one returns the end, like graphs of LangGraph: each gets the state and returns the next one. */
export async function runGraph(nodes: Readonly<Record<string, GraphNode>>, start: GraphState): Promise<GraphState> {
  let state = start
  while (state.next !== END) {
    const node = nodes[state.next]
    if (node === undefined) throw new Error(`there is no node ${state.next}`)
    if (state.steps >= STEPS_MAX) throw new Error(`the graph was not done after ${STEPS_MAX} steps`)
    state = await node({ ...state, steps: state.steps + 1 })
  }
  return state
}

/** A writer and a critic that alternate on one thread; each reads a context with its own budget. */
export function writerAndCritic(
  heddle: RemoteClient,
  ask: (prompt: readonly unknown[]) => Promise<string>,
): Readonly<Record<string, GraphNode>> {
  const speak = async (thread: string, agent: string, message: string, budget: number) => {
    const context = await heddle.contexts.build({ thread, message, budget, format: 'openai-chat' })
    const content = await ask(context.messages)
    const said = { role: 'assistant' as const, content, contextId: context.id, metadata: { node: agent } }
    await heddle.messages.append({ agent: 'team', thread, messages: [said] })
    return content
  }
  return {
    async write(state) {
      await speak(state.thread, 'writer', 'Write the next draft.', 16_000)
      return { ...state, next: 'review' }
    },
    async review(state) {
      const verdict = await speak(state.thread, 'critic', 'Review the last draft. Say APPROVED when it is good.', 8_000)
      return { ...state, next: verdict.includes('APPROVED') ? END : 'write' }
    },
  }
}
