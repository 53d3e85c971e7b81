/** Texts up to this length are processed at once: a millisecond, whatever they contain. */
export const SHORT_TEXT_CHARACTERS_MAX = 32_768

/** Whether a JSON value contains a text that must be processed in pieces. */
export function holdsLongText(value: unknown): boolean {
  if (typeof value === 'string') return value.length > SHORT_TEXT_CHARACTERS_MAX
  if (value === null || typeof value !== 'object') return false
  for (const key in value) if (holdsLongText((value as Record<string, unknown>)[key])) return true
  return false
}

/** A text in pieces of at most `charactersMax` characters, none of which ends within a surrogate pair. */
export function* textPieces(text: string, charactersMax: number = SHORT_TEXT_CHARACTERS_MAX): Generator<string> {
  for (let from = 0; from < text.length; ) {
    let to = Math.min(text.length, from + charactersMax)
    if (to < text.length && isHighSurrogate(text.charCodeAt(to - 1))) to--
    yield text.slice(from, to)
    from = to
  }
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}

/** The JSON of a text without its quotes, in pieces. */
export function* jsonTextPieces(text: string): Generator<string> {
  for (const piece of textPieces(text)) yield JSON.stringify(piece).slice(1, -1)
}

/**
 * The result of `JSON.stringify` for a JSON value, yielding after each piece of a long text: escaping four million
 * characters takes a tenth of a second and more. The pieces are joined once, at the end.
 */
export function* jsonSteps(value: unknown): Generator<undefined, string> {
  if (!holdsLongText(value)) return JSON.stringify(value)
  const pieces: string[] = []
  for (const piece of jsonPieces(value)) {
    pieces.push(piece)
    if (piece.length > SHORT_TEXT_CHARACTERS_MAX / 2) yield
  }
  return pieces.join('')
}

function* jsonPieces(value: unknown): Generator<string> {
  if (!holdsLongText(value)) {
    yield JSON.stringify(value) ?? 'null'
  } else if (typeof value === 'string') {
    yield '"'
    yield* jsonTextPieces(value)
    yield '"'
  } else if (Array.isArray(value)) {
    for (const [index, inner] of value.entries()) {
      yield index === 0 ? '[' : ','
      yield* jsonPieces(inner)
    }
    yield ']'
  } else {
    let before = '{'
    for (const [key, inner] of Object.entries(value as object)) {
      if (inner === undefined) continue
      yield `${before}${JSON.stringify(key)}:`
      yield* jsonPieces(inner)
      before = ','
    }
    yield '}'
  }
}

/** The length of a text's JSON, quotes included, in a fraction of the time that making it takes. */
export function jsonLengthOf(text: string): number {
  let length = text.length + 2
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === 34 || code === 92) length++
    else if (code < 32) length += isShortEscape(code) ? 1 : 5
    else if (code >= 0xd800 && code <= 0xdfff) {
      const isPair = isHighSurrogate(code) && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00
      if (isPair) index++
      else length += 5
    }
  }
  return length
}

/** \b \t \n \f \r */
function isShortEscape(code: number): boolean {
  return code === 8 || code === 9 || code === 10 || code === 12 || code === 13
}
