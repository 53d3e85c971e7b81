import { countMessageTokens, estimateTokens, type Message } from '@heddle/core'
import fc from 'fast-check'

/** A stored message with defaults for all fields that a test does not set; its tokens are four characters each. */
export function sampleMessage(fields: Partial<Message> & { seq: number }): Message {
  const content = fields.content ?? `message ${fields.seq}`
  const sent = { content, toolCalls: fields.toolCalls ?? [], thinking: fields.thinking ?? [] }
  return {
    id: `00000000-0000-7000-8000-${fields.seq.toString(16).padStart(12, '0')}`,
    code: fields.seq.toString(36).padStart(8, '0'),
    role: 'user',
    content,
    thinking: [],
    toolCalls: [],
    toolCallId: null,
    toolName: null,
    isError: false,
    orderedAtMs: fields.seq * 1_000,
    ordinal: 0,
    model: null,
    usage: null,
    pinned: false,
    keptAside: null,
    contextId: null,
    ...countMessageTokens(sent, estimateTokens),
    tokensExact: true,
    ...fields,
  }
}

/** One step of a generated conversation. */
export type Step =
  | { kind: 'user'; size: number; pinned: boolean }
  | { kind: 'say'; size: number }
  | {
      kind: 'call'
      calls: { tool: number; answered: boolean; fails: boolean; size: number }[]
      size: number
      reused: boolean
    }
  | { kind: 'loose-result'; size: number }
  | { kind: 'system'; size: number }

const size = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 400 }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 6_000 }) },
)

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('user' as const), size, pinned: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('say' as const), size }) },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('call' as const),
      size,
      reused: fc.boolean(),
      calls: fc.array(
        fc.record({
          tool: fc.integer({ min: 0, max: 6 }),
          answered: fc.integer({ min: 0, max: 9 }).map((n) => n > 0),
          fails: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
          size,
        }),
        { minLength: 1, maxLength: 4 },
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('loose-result' as const), size }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('system' as const), size }) },
)

const WORDS =
  'alpha beta gamma delta src/app.ts error failed const function return 42 done next because user wants'.split(' ')
const text = (characters: number, seed: number) => {
  let words = ''
  for (let at = seed; words.length < characters; at++) words += `${WORDS[(at * 7 + seed) % WORDS.length]} `
  return words.slice(0, characters)
}
const TOOLS = [
  { name: 'Read', arguments: (n: number) => ({ file_path: `/repo/src/file${n % 3}.ts` }) },
  {
    name: 'Edit',
    arguments: (n: number) => ({ file_path: `/repo/src/file${n % 3}.ts`, old_string: 'a', new_string: 'b' }),
  },
  { name: 'Bash', arguments: (n: number) => ({ command: `npm test ${n}` }) },
  { name: 'Grep', arguments: (n: number) => ({ pattern: `name${n}`, path: 'src' }) },
  { name: 'other_tool', arguments: (n: number) => ({ n }) },
  { name: 'Write', arguments: (n: number) => ({ file_path: `/repo/src/file${n % 3}.ts`, content: text(n, n) }) },
  { name: 'odd name!', arguments: (n: number) => `{"broken": ${n}` },
] as const

/** Turns steps into stored messages, in order, as an agent would have produced them. */
export function conversationOf(steps: readonly Step[]): Message[] {
  const messages: Message[] = []
  const add = (fields: Partial<Message>) => messages.push(sampleMessage({ seq: messages.length + 1, ...fields }))
  for (const [index, one] of steps.entries()) {
    const content = text(one.size, index)
    if (one.kind === 'user') add({ role: 'user', content, pinned: one.pinned && index % 11 === 0 })
    else if (one.kind === 'say') add({ role: 'assistant', content })
    else if (one.kind === 'system') add({ role: 'system', content })
    else if (one.kind === 'loose-result') add({ role: 'tool_result', content, toolCallId: `nobody-${index}` })
    else {
      const calls = one.calls.map((call, at) => {
        const tool = TOOLS[call.tool] ?? TOOLS[0]
        return {
          id: one.reused ? `call-${at}` : `call-${index}-${at}`,
          name: tool.name,
          arguments: tool.arguments(call.size),
        }
      })
      add({ role: 'assistant', content: text(one.size % 50, index), toolCalls: calls })
      for (const [at, call] of one.calls.entries()) {
        if (call.answered)
          add({
            role: 'tool_result',
            content: text(call.size, index + at),
            toolCallId: calls[at]?.id ?? '',
            isError: call.fails,
          })
      }
    }
  }
  return messages
}

/**
 * The same messages with signed reasoning before what the assistant says or calls, of a length that changes from message to
 * message; now and then it is redacted, or a signature is missing, so that it cannot be sent back.
 */
export function withReasoning(messages: readonly Message[], seed: number): Message[] {
  return messages.map((message, index) => {
    if (message.role !== 'assistant' || (index + seed) % 3 === 0) return message
    const signature = 'EqQB'.repeat(((index * 31 + seed) % 97) * 4)
    const plain = {
      text: text(((index * 17 + seed) % 61) * 40, index),
      ...(index % 13 > 0 && { signature: `s${signature}` }),
    }
    const thinking = index % 7 === 0 ? [plain, { text: '', redacted: signature || 'r' }] : [plain]
    const { content, toolCalls } = message
    return { ...message, thinking, ...countMessageTokens({ content, toolCalls, thinking }, estimateTokens) }
  })
}

/** The steps of conversations as agents produce them, for {@link conversationOf}. */
export const conversationSteps = (stepsMax = 120): fc.Arbitrary<Step[]> =>
  fc.array(step, { minLength: 1, maxLength: stepsMax, size: 'max' })

/** Conversations as agents produce them: parallel calls, reused call ids, failures, calls without a result. */
export const conversations = (stepsMax = 120): fc.Arbitrary<Message[]> =>
  conversationSteps(stepsMax).map(conversationOf)

/** Some generated conversations, the same ones for the same seed. */
export function sampleSteps(seed: number, count: number, stepsMax?: number): Step[][] {
  return fc.sample(conversationSteps(stepsMax), { seed, numRuns: count })
}
