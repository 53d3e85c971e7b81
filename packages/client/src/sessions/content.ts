import { compact, isJsonObject, type Json, type JsonObject, textField } from './json.js'

/** The text of a message's content, and a note of every part that is no text: nothing is dropped without a trace. */
export interface FlatContent {
  text: string
  notes: JsonObject[]
}

const TEXT_TYPES = new Set(['text', 'input_text', 'output_text'])
const KIND_CHARACTERS_MAX = 60

/**
 * Flattens a content: a text, nothing, or a list of parts. Texts are joined by an empty line; each other part, such as an
 * image, leaves a short marker in the text and a compact copy of itself in the notes.
 */
export function flattenContent(content: Json | undefined): FlatContent {
  if (content === undefined || content === null) return { text: '', notes: [] }
  if (typeof content === 'string') return { text: content, notes: [] }
  const texts: string[] = []
  const notes: JsonObject[] = []
  for (const part of Array.isArray(content) ? content : [content]) {
    const text = textOf(part)
    if (text !== null) {
      texts.push(text)
      continue
    }
    texts.push(markerOf(part))
    const note = compact(part)
    notes.push(isJsonObject(note) ? note : { value: note })
  }
  return { text: texts.filter((text) => text !== '').join('\n\n'), notes }
}

/** The notes of a content as metadata. */
export function notesOf(flat: FlatContent): JsonObject {
  return flat.notes.length > 0 ? { parts: flat.notes } : {}
}

function textOf(part: Json): string | null {
  if (typeof part === 'string') return part
  if (!isJsonObject(part)) return null
  if (part['type'] === 'refusal' && typeof part['refusal'] === 'string') return part['refusal']
  const isText = typeof part['type'] === 'string' && TEXT_TYPES.has(part['type'])
  return isText && typeof part['text'] === 'string' ? part['text'] : null
}

function markerOf(part: Json): string {
  if (!isJsonObject(part)) return '[part]'
  const kind = (textField(part, 'type') ?? 'part').slice(0, KIND_CHARACTERS_MAX)
  const media = mediaTypeOf(part)
  return media === undefined ? `[${kind}]` : `[${kind}: ${media.slice(0, KIND_CHARACTERS_MAX)}]`
}

/** Anthropic names the media type of a part; OpenAI hides it in a data URL. */
function mediaTypeOf(part: JsonObject): string | undefined {
  const { source, image_url: image } = part
  if (isJsonObject(source)) return textField(source, 'media_type')
  const url = isJsonObject(image) ? textField(image, 'url') : undefined
  return url === undefined ? undefined : /^data:([^;,]+)/.exec(url.slice(0, 200))?.[1]
}
