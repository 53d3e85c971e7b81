import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { signatureOf } from '@heddle/test-support/providers/signatures'
import { z } from 'zod'
import { claudeBody } from './claude-body.js'
import type { Block, RecordedRequest, RecordedTokens, ReplaySession } from './session.js'

const blockSchema = z.looseObject({ type: z.string() })
const usageSchema = z.looseObject({
  input_tokens: z.number(),
  cache_read_input_tokens: z.number().default(0),
  cache_creation_input_tokens: z.number().default(0),
})
const recordSchema = z.looseObject({
  type: z.string(),
  timestamp: z.iso.datetime().optional(),
  isCompactSummary: z.boolean().optional(),
  message: z
    .looseObject({
      role: z.enum(['user', 'assistant']),
      content: z.union([z.string(), z.array(blockSchema)]),
      id: z.string().optional(),
      model: z.string().optional(),
      usage: usageSchema.optional(),
    })
    .optional(),
})
type SessionRecord = z.infer<typeof recordSchema>

export const COMPACTION_PROMPT =
  'Your task is to create a detailed summary of the conversation so far, so that the work can go on from it without the conversation. ' +
  'Name the files, the decisions, the errors and their fixes, all requests of the user, and the next step.'
const INTERRUPTED = '[Request interrupted by user for tool use]'
const UNWANTED_MODEL = '<synthetic>'

export interface ClaudeSessionOptions {
  /** Whether the client replaces its history where the recorded one did; otherwise it sends all that was ever said. */
  readonly isCompacted: boolean
}

/** The recorded sessions of Claude Code, each as the requests that it sent to the Messages API. */
export async function readClaudeSessions(dataDir: string, options: ClaudeSessionOptions): Promise<ReplaySession[]> {
  const folder = join(dataDir, 'claude-code')
  const names = (await readdir(folder)).filter((name) => name.endsWith('.jsonl')).sort()
  return Promise.all(
    names.map(async (file) => {
      const lines = (await readFile(join(folder, file), 'utf8')).split('\n').filter((line) => line !== '')
      const records = lines.map((line) => recordSchema.parse(JSON.parse(line)))
      return toSession(file.slice(0, 2), records, options)
    }),
  )
}

function toSession(
  name: string,
  records: readonly SessionRecord[],
  { isCompacted }: ClaudeSessionOptions,
): ReplaySession {
  const replies = repliesIn(records)
  const answers = [...replies.values()]
  const requests: RecordedRequest[] = []
  const begun = new Set<string>()
  let history: Block[] = []
  let atMs = 0
  for (const { message, timestamp, isCompactSummary } of records) {
    const recordedMs = timestamp === undefined ? atMs : Date.parse(timestamp)
    if (message === undefined) continue
    const { role, content, id = '' } = message
    if (role === 'assistant') {
      const reply = replies.get(id)
      if (reply === undefined || begun.has(id)) continue
      begun.add(id)
      requests.push({
        atMs,
        history: closeCalls(history),
        reply,
        purpose: 'agent',
        recorded: recordedTokens(message.usage),
      })
      history = [...history, { role, content: reply }]
      continue
    }
    // A client does not send a request before the message or the result that it answers.
    atMs = Math.max(atMs, recordedMs)
    if (isCompactSummary === true) {
      if (!isCompacted) continue
      const summary = [{ type: 'text', text: textOf(content) }]
      const asked = { role: 'user', content: [{ type: 'text', text: COMPACTION_PROMPT }] }
      requests.push({
        atMs,
        history: closeCalls([...history, asked]),
        reply: summary,
        purpose: 'compaction',
        recorded: null,
      })
      history = []
    }
    history = [...history, { role: 'user', content: userBlocks(content) }].filter(hasContent)
  }
  const hasThinking = answers.some((reply) => reply.some(({ type }) => type === 'thinking'))
  const isInterleaved = answers.some((reply) => reply.findLastIndex(({ type }) => type === 'thinking') > 0)
  const model = records.find(({ message }) => message?.model !== undefined)?.message?.model ?? ''
  const tools = [
    ...new Set(answers.flat().flatMap(({ type, name: tool }) => (type === 'tool_use' ? [String(tool)] : []))),
  ]
  const thinking = hasThinking ? (isInterleaved ? 'adaptive' : 'enabled') : null
  return {
    name,
    protocol: 'anthropic',
    model,
    requests,
    body: claudeBody({ name, model, tools, thinking }),
    ask: (text) => ({ role: 'user', content: [{ type: 'text', text }] }),
    answer: (reply) => [{ role: 'assistant', content: reply }],
  }
}

function recordedTokens(usage: z.infer<typeof usageSchema> | undefined): RecordedTokens | null {
  if (usage === undefined) return null
  const { input_tokens: input, cache_read_input_tokens: cacheRead, cache_creation_input_tokens: cacheWrite } = usage
  return { input, cacheRead, cacheWrite }
}

/** Records with one message id are one reply. A reply that is only reasoning was interrupted, and clients leave it out. */
function repliesIn(records: readonly SessionRecord[]): Map<string, Block[]> {
  const replies = new Map<string, Block[]>()
  for (const { message } of records) {
    if (message?.role !== 'assistant' || message.id === undefined || message.model === UNWANTED_MODEL) continue
    const blocks = typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content
    replies.set(message.id, [...(replies.get(message.id) ?? []), ...blocks.filter(isSaid).map(signed)])
  }
  for (const [id, blocks] of replies) if (blocks.every(({ type }) => type === 'thinking')) replies.delete(id)
  return replies
}

/** The recordings have no signatures. */
function signed(block: Block): Block {
  return block['type'] === 'thinking' ? { ...block, signature: signatureOf(String(block['thinking'])) } : block
}

function isSaid(block: Block): boolean {
  return block['type'] !== 'text' || String(block['text']).trim() !== ''
}

function userBlocks(content: string | readonly Block[]): Block[] {
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content
  return blocks.filter(isSaid).map((block) => {
    const isEmptyError = block['is_error'] === true && block['content'] === ''
    return isEmptyError ? { ...block, content: 'Error' } : block
  })
}

function textOf(content: string | readonly Block[]): string {
  return typeof content === 'string' ? content : content.map(({ text }) => text).join('\n')
}

function hasContent({ content }: Block): boolean {
  return Array.isArray(content) && content.length > 0
}

/**
 * The messages that follow each other by one role are one, and every call is answered in the next one, as clients send them: a call
 * whose result never came gets a note, and a result whose call is gone is left out.
 */
function closeCalls(history: readonly Block[]): Block[] {
  const merged: { role: unknown; content: Block[] }[] = []
  for (const { role, content } of history) {
    const last = merged.at(-1)
    if (last?.role === role) last?.content.push(...(content as Block[]))
    else merged.push({ role, content: [...(content as Block[])] })
  }
  return merged.flatMap(({ role, content }, index) => {
    if (role !== 'user') return [{ role, content }]
    const calls = (merged[index - 1]?.content ?? []).flatMap(({ type, id }) => (type === 'tool_use' ? [id] : []))
    const results = content.filter(({ type, tool_use_id: id }) => type === 'tool_result' && calls.includes(id))
    const missing = calls.filter((id) => !results.some((result) => result['tool_use_id'] === id))
    const notes = missing.map((id) => ({ type: 'tool_result', tool_use_id: id, content: INTERRUPTED, is_error: true }))
    const others = content.filter(({ type }) => type !== 'tool_result')
    const blocks = [...results, ...notes, ...others]
    return blocks.length === 0 ? [] : [{ role, content: blocks }]
  })
}
