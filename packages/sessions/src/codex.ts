import {
  countSkipped,
  type DraftMessage,
  isJsonObject,
  type JsonObject,
  openAiUsage,
  readOpenAiItems,
  textField,
} from '@heddle/client/forms'
import { recordsOf } from './conversations.js'
import type { Draft, Reading, ReadingOptions } from './parsed.js'
import type { Source } from './source.js'

/** Types of the records of a rollout, each of which has its contents in `payload`. */
export const CODEX_TYPES: ReadonlySet<unknown> = new Set([
  'session_meta',
  'response_item',
  'compacted',
  'turn_context',
  'event_msg',
])
/** Items of the Responses API that say something: messages, reasoning, calls, and their outputs. */
const ITEM = /^(?:message|reasoning|\w+_call|\w+_output)$/

/** Rollouts of Codex, `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`: their messages are items of OpenAI's Responses API. */
export function readCodex(source: Source, { skipped }: Pick<ReadingOptions, 'skipped'>): Reading {
  return { drafts: readRollout(source, skipped), suffixOf: () => null }
}

/** Items of one reply that no other record has ended yet. */
interface OpenReply {
  readonly place: string
  readonly sentAt: string | undefined
  readonly model: string | undefined
  readonly items: JsonObject[]
  usage: ReturnType<typeof openAiUsage>
}

function* readRollout(source: Source, skipped: Map<string, number>): Generator<Draft> {
  let model: string | undefined
  let open: OpenReply | null = null
  for (const { place, value } of recordsOf(source)) {
    const { type, payload } = value
    const kind = typeof type === 'string' ? type : 'without a type'
    if (!isJsonObject(payload)) {
      countSkipped(skipped, kind)
      continue
    }
    const sentAt = textField(value, 'timestamp')
    if (kind === 'turn_context') model = textField(payload, 'model') ?? model
    if (kind === 'event_msg' && open !== null) open.usage = usageIn(payload) ?? open.usage
    const summary = kind === 'compacted' ? textField(payload, 'message') : undefined
    const isItem = kind === 'response_item' && ITEM.test(textField(payload, 'type') ?? 'message')
    if (summary === undefined && !isItem) {
      countSkipped(skipped, [kind, textField(payload, 'type') ?? []].flat().join('/'))
      continue
    }
    if (isItem && isOfModel(payload)) {
      open ??= { place, sentAt, model, items: [], usage: {} }
      open.items.push(payload)
      continue
    }
    if (open !== null) yield* messagesOf(open)
    open = null
    if (isItem) yield* messagesOf({ place, sentAt, model: undefined, items: [payload], usage: {} })
    else if (summary !== undefined && summary !== '') yield { thread: 0, message: summaryAt(place, summary, sentAt) }
  }
  if (open !== null) yield* messagesOf(open)
}

function isOfModel({ type, role }: JsonObject): boolean {
  if (type === undefined || type === 'message') return role === 'assistant'
  return !String(type).endsWith('_output')
}

function* messagesOf({ place, sentAt, model, items, usage }: OpenReply): Generator<Draft> {
  const read = readOpenAiItems(items.map((item, entry) => ({ entry, item })))
  for (const [index, { input, sourceId }] of read.entries()) {
    const isReply = input.role === 'assistant'
    const isLast = index === read.length - 1
    const message: DraftMessage = {
      place,
      // Not of its contents: a reply is written item by item, and may be read before its last one.
      ...(isReply && { identity: `reply ${index} at ${place}` }),
      input: {
        ...input,
        ...(sourceId !== undefined && { sourceId }),
        ...(sentAt !== undefined && { sentAt }),
        ...(isReply && model !== undefined && { model }),
        ...(isReply && isLast && usage),
      },
    }
    yield { thread: 0, message }
  }
}

/** Codex goes on from its own summary; everything that was said before is in the file. */
function summaryAt(place: string, content: string, sentAt: string | undefined): DraftMessage {
  return {
    place,
    input: { role: 'user', content, keptAside: 'compact-summary', ...(sentAt !== undefined && { sentAt }) },
  }
}

/** The usage of the last request, in the event that follows its reply. */
function usageIn({ type, info }: JsonObject): ReturnType<typeof openAiUsage> | null {
  if (type !== 'token_count' || !isJsonObject(info)) return null
  const last = info['last_token_usage']
  if (!isJsonObject(last)) return null
  const { cached_input_tokens: cached = 0, reasoning_output_tokens: reasoning = 0 } = last
  return openAiUsage({
    ...last,
    input_tokens_details: { cached_tokens: cached },
    output_tokens_details: { reasoning_tokens: reasoning },
  })
}
