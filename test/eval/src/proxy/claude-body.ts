import { createHash } from 'node:crypto'
import { CODING_SYSTEM_TOKENS, CODING_TOOLS, fillerText, fillerTools } from './filler.js'
import type { Block } from './session.js'

interface ClaudeBodyOptions {
  readonly name: string
  readonly model: string
  /** The tools that the session uses. */
  readonly tools: readonly string[]
  readonly thinking: 'enabled' | 'adaptive' | null
}

const MARK = { cache_control: { type: 'ephemeral' } }
/** The newest messages that Claude Code marks; the other two of four marks are on the system prompt. */
const MARKED_MESSAGES = 2
const OUTPUT_TOKENS_MAX = 32_000

/** The body of a request as Claude Code writes it, with generated text as system prompt and tools. */
export function claudeBody({ name, model, tools, thinking }: ClaudeBodyOptions): (history: readonly Block[]) => string {
  const system = [
    { type: 'text', text: 'You are Claude Code, the agent of a command line.', ...MARK },
    { type: 'text', text: fillerText(1, CODING_SYSTEM_TOKENS), ...MARK },
  ]
  const listed = fillerTools([...new Set([...CODING_TOOLS, ...tools])]).map(({ parameters, ...tool }) => ({
    ...tool,
    input_schema: parameters,
  }))
  const fields = {
    model,
    max_tokens: OUTPUT_TOKENS_MAX,
    system,
    tools: listed,
    metadata: { user_id: `user_${hashOf('user')}_account__session_${sessionId(name)}` },
    ...(thinking !== null && {
      thinking: thinking === 'adaptive' ? { type: thinking } : { type: thinking, budget_tokens: OUTPUT_TOKENS_MAX - 1 },
    }),
    stream: true,
  }
  return (history) => {
    const messages = history.map((message, index) =>
      index >= history.length - MARKED_MESSAGES ? marked(message) : unmarked(message),
    )
    return JSON.stringify({ ...fields, messages })
  }
}

/** The last block gets the mark, unless it is reasoning. */
function marked(message: Block): Block {
  const blocks = message['content'] as readonly Block[]
  const last = blocks.at(-1)
  if (last === undefined || last['type'] === 'thinking' || last['type'] === 'redacted_thinking') return message
  return { ...message, content: [...blocks.slice(0, -1), { ...last, ...MARK }] }
}

/** A message that is one text is sent as a text, and as a list of blocks only while it has a mark. */
function unmarked(message: Block): Block {
  const [first, ...others] = message['content'] as readonly Block[]
  return first?.['type'] === 'text' && others.length === 0 ? { ...message, content: first['text'] } : message
}

/** The id of a session in the form of a UUID. */
export function sessionId(name: string): string {
  const hash = hashOf(name)
  return [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `4${hash.slice(13, 16)}`,
    `8${hash.slice(17, 20)}`,
    hash.slice(20, 32),
  ].join('-')
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
