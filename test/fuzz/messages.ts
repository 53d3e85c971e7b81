import { limits, roles } from '@heddle/contracts'
import type { Random } from './random.js'
import { goodName, goodTime, json, jsonObject, nested, text } from './values.js'

export type Fields = Record<string, unknown>

/** A message that the contract accepts, as unusual as allowed. */
export function goodMessage(random: Random): Fields {
  const role = random.pick(roles)
  const calls = role === 'tool_use' || (role === 'assistant' && random.oneIn(2))
  const optional = (name: string, make: () => unknown, times = 4) => (random.oneIn(times) ? { [name]: make() } : {})
  return {
    id: random.uuid(random.pick([1, 4, 7])),
    role,
    content: content(random),
    ...(calls && { toolCalls: random.list(1, 3, () => toolCall(random)) }),
    ...(role === 'tool_result' && { toolCallId: foreignName(random) }),
    ...(role === 'assistant' && optional('thinking', () => random.list(0, 3, () => thinking(random)))),
    ...optional('sourceId', () => foreignName(random)),
    ...optional('toolName', () => foreignName(random), 8),
    ...optional('isError', () => random.oneIn(2)),
    ...optional('sentAt', () => goodTime(random), 2),
    ...optional('model', () => foreignName(random)),
    ...optional('usage', () => jsonObject(random)),
    ...optional('contextId', () => random.uuid(), 8),
    ...optional('pinned', () => random.oneIn(2), 8),
    ...optional('keptAside', () => 'compact-summary', 12),
    ...optional('metadata', () => (random.oneIn(50) ? { deep: nested(limits.jsonDepthMax - 1) } : jsonObject(random))),
  }
}

/** More than all other fields of a message together. */
const OTHER_CHARACTERS_MAX = 100_000

function content(random: Random): string {
  // Rare, since each costs as much as thousands of others.
  if (random.oneIn(100_000))
    return random.pick(['x', '\0', 'ü']).repeat(limits.messageCharactersMax - OTHER_CHARACTERS_MAX)
  return text(random, random.oneIn(20) ? 200 : 6)
}

function toolCall(random: Random): Fields {
  const given = random.oneIn(3) ? text(random) : jsonObject(random)
  return { id: text(random) || 'call', name: text(random) || 'Read', arguments: given }
}

function thinking(random: Random): Fields {
  return {
    text: text(random),
    ...(random.oneIn(2) && { signature: text(random) }),
    ...(random.oneIn(4) && { redacted: text(random) }),
  }
}

function foreignName(random: Random): string {
  const name = text(random).replaceAll('\0', '').toWellFormed()
  return name === '' ? `call_${random.whole(0, 9)}` : name.slice(0, 200).toWellFormed()
}

/** The options of an append, as a program passes them. */
export function goodAppend(random: Random): Fields {
  return {
    agent: goodName(random),
    thread: goodName(random),
    messages: random.list(0, random.oneIn(10_000) ? 501 : 2, () => {
      const { id, ...fields } = goodMessage(random)
      return random.oneIn(2) ? { id, ...fields } : fields
    }),
    ack: random.oneIn(50) ? 'stored' : 'queued',
    ...(random.oneIn(8) && { newAgentRollingWindow: random.pick([null, 1, 3_153_600_000]) }),
    ...(random.oneIn(8) && { startedAtMs: random.pick([0, -1, Date.now(), 0.5, 253_402_300_799_999]) }),
    ...(random.oneIn(8) && { onBusy: random.pick(['wait', 'fail']) }),
    ...(random.oneIn(8) && { deadlineMs: random.pick([1, 600_000]) }),
  }
}

/** Usually an append with an unknown option. */
export function strayAppend(random: Random): Fields {
  return { ...goodAppend(random), [text(random)]: json(random) }
}

/** The payload of an ingest job in a queue. */
export function goodJob(random: Random): Fields {
  return {
    projectId: random.uuid(5),
    requestId: random.uuid(),
    ...(random.oneIn(2) && { replyTo: `inbox-${random.whole(0, 99)}` }),
    agent: goodName(random),
    thread: goodName(random),
    ...(random.oneIn(8) && { newAgentRollingWindow: random.pick([null, 1, 86_400]) }),
    messages: random.list(1, random.oneIn(10_000) ? 501 : 2, () => ({
      message: goodMessage(random),
      ordinal: random.pick([0, 1, 7, 2_000_000_000]),
      orderedAt: goodTime(random),
    })),
  }
}
