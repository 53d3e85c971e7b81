/*
 * A context is built, stored, compared and sent between processes with a slot in place of each part's bytes. The slots
 * are filled when the context is delivered, so that no image is ever copied into stored contexts.
 */

const SLOT = /^(data:[^,]{1,200};base64,)?heddle-part:([0-9a-f]{64}):(\d{1,9})$/
/** Longer texts cannot be slots and are skipped. */
const SLOT_CHARACTERS_MAX = 320
/** Fields with data of the caller, such as tool arguments; a value that looks like a slot is left unchanged there. */
const OPAQUE_FIELDS = new Set(['input', 'arguments', 'toolCalls', 'tool_calls', 'metadata'])

export interface Slot {
  /** SHA-256 of the bytes. */
  readonly sha256: string
  /** Token count of the part in the format of the context. */
  readonly tokens: number
  /** Text before the bytes: the beginning of a data URL, or empty. */
  readonly before: string
}

export function slotText(sha256: string, tokens: number): string {
  return `heddle-part:${sha256}:${tokens}`
}

export function readSlot(text: string): Slot | null {
  if (text.length > SLOT_CHARACTERS_MAX) return null
  const [, before = '', sha256, tokens] = SLOT.exec(text) ?? []
  return sha256 === undefined ? null : { sha256, tokens: Number(tokens), before }
}

/** Fields of blocks that contain the bytes of a part, in any format. Message texts are never in one of them. */
const BYTE_FIELDS = new Set(['data', 'url', 'image', 'image_url', 'file_data'])

/** Hashes of the bytes needed to fill a context's messages. */
export function slotsIn(messages: readonly object[]): Set<string> {
  const found = new Set<string>()
  for (const message of messages) visit(message, ({ sha256 }) => found.add(sha256))
  return found
}

function visit(value: unknown, meet: (slot: Slot) => void): void {
  if (typeof value !== 'object' || value === null) return
  for (const [name, field] of Object.entries(value)) {
    if (typeof field === 'string') {
      const slot = BYTE_FIELDS.has(name) ? readSlot(field) : null
      if (slot !== null) meet(slot)
    } else if (!OPAQUE_FIELDS.has(name)) visit(field, meet)
  }
}

/**
 * Replaces slots in messages by the bytes, as base64. A message without a slot is returned unchanged.
 *
 * @param base64Of of a hash; undefined if the bytes were erased, which leaves a text in the part's place
 */
export function fillSlots<Message extends object>(
  messages: readonly Message[],
  base64Of: (sha256: string) => string | undefined,
): Message[] {
  return messages.map((message) => {
    let holdsSlot = false
    visit(message, () => {
      holdsSlot = true
    })
    return holdsSlot ? (filled(message, base64Of) as Message) : message
  })
}

function filled(value: unknown, base64Of: (sha256: string) => string | undefined): unknown {
  if (Array.isArray(value)) return value.map((one) => filled(one, base64Of))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => {
      if (OPAQUE_FIELDS.has(name)) return [name, field]
      if (typeof field !== 'string') return [name, filled(field, base64Of)]
      const slot = BYTE_FIELDS.has(name) ? readSlot(field) : null
      return [name, slot === null ? field : `${slot.before}${base64Of(slot.sha256) ?? ''}`]
    }),
  )
}
