import { countSkipped, type DraftMessage, isJsonObject, type JsonObject, textField } from '@heddle/client/forms'
import { validationError } from '@heddle/contracts'
import { recordsIn } from '../conversations.js'
import { callAndResult, objectField, timeOf } from '../fields.js'
import type { Draft, Reading, ReadingOptions } from '../parsed.js'
import type { Source } from '../source.js'

/** Whether an entry of `messages` is one of OpenCode: its fields and its parts are beside each other. */
export function isOpenCodeMessage({ info, parts }: JsonObject): boolean {
  return isJsonObject(info) && typeof info['role'] === 'string' && Array.isArray(parts)
}

/** Sessions of OpenCode, as `opencode export` writes them: `{ info, messages: [{ info, parts }] }`. */
export function readOpenCode(source: Source, { skipped }: Pick<ReadingOptions, 'skipped'>): Reading {
  return { drafts: readExport(source, skipped), suffixOf: () => null }
}

function* readExport(source: Source, skipped: Map<string, number>): Generator<Draft> {
  const [file] = source.kind === 'object' ? source.entries() : []
  const messages = file?.list('messages') ?? null
  if (messages === null) throw validationError('messages', 'must be a list of messages', undefined)
  for (const { place, value } of recordsIn(messages, (index) => `messages.${index}`)) {
    const { info, parts } = value
    if (!isJsonObject(info)) throw validationError(place, 'must have the field info', info)
    if (!Array.isArray(parts)) throw validationError(place, 'must have a list of parts', parts)
    for (const part of recordsIn(parts, (index) => `${place}.parts.${index}`)) {
      const drafts = readPart(part.place, part.value, info)
      if (drafts.length === 0) countSkipped(skipped, `part/${kindOf(part.value)}`)
      for (const message of drafts) yield { thread: 0, message }
    }
  }
}

function kindOf(part: JsonObject): string {
  return part['synthetic'] === true ? 'synthetic' : (textField(part, 'type') ?? 'without a type')
}

function readPart(place: string, part: JsonObject, info: JsonObject): DraftMessage[] {
  const id = textField(part, 'id') ?? place
  const isReply = info['role'] === 'assistant'
  const created = objectField(info, 'time')?.['created']
  const model = textField(info, 'modelID')
  if (part['type'] === 'tool') return readCall(place, part)
  const text = textField(part, 'text')
  if (part['type'] !== 'text' || text === undefined || text.trim() === '' || part['ignored'] === true) return []
  // Contents of files, agents and resources that a prompt names: the user did not type them.
  if (part['synthetic'] === true) return []
  const sentAt = timeOf(objectField(part, 'time')?.['end'] ?? created)
  const role = isReply ? 'assistant' : 'user'
  return [
    {
      place,
      identity: id,
      input: {
        role,
        content: text,
        sourceId: id,
        ...(sentAt !== undefined && { sentAt }),
        ...(isReply && model !== undefined && { model }),
        // OpenCode goes on from its own summary; everything that was said before is in the file.
        ...(info['summary'] === true && { keptAside: 'compact-summary' }),
      },
    },
  ]
}

/** A call that was never finished has no result. */
function readCall(place: string, part: JsonObject): DraftMessage[] {
  const state = objectField(part, 'state') ?? {}
  const { status, output, error, input } = state
  const time = objectField(state, 'time')
  return callAndResult(place, {
    id: textField(part, 'callID') ?? '',
    name: textField(part, 'tool') ?? '',
    input,
    calledAt: timeOf(time?.['start']),
    ...((status === 'completed' || status === 'error') && {
      result: { content: String((status === 'error' ? error : output) ?? ''), isError: status === 'error' },
      answeredAt: timeOf(time?.['end']),
    }),
  })
}
