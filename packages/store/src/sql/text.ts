import { isUtf8 } from 'node:buffer'
import { PermanentError } from '@heddle/contracts'

/**
 * Postgres texts cannot hold NUL characters, and UTF-8 cannot hold lone surrogates, with which a text ends that was cut in
 * the middle of an emoji. Texts of users are stored exactly nevertheless, in one of three ways by the kind of text.
 */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

/** For names and settings: refused, because such characters are a mistake there. The error does not show the text. */
export function unstorableError(field: string, text: string): PermanentError {
  return new PermanentError('VALIDATION_ERROR', `${field}: must not contain NUL characters or lone surrogates`, {
    field,
    received: `a text of ${text.length} characters`,
  })
}

/** @throws PermanentError {@link unstorableError} */
export function assertStorable(field: string, text: string | null | undefined): void {
  if (text !== null && text !== undefined && !isStorable(text)) throw unstorableError(field, text)
}

/** For texts that Heddle or a model wrote, such as summaries: characters that cannot be stored become U+FFFD. */
export function toStorable(text: string): string {
  return isStorable(text) ? text : text.toWellFormed().replaceAll('\0', '\uFFFD')
}

/** For contents that are stored as bytes: UTF-8, with lone surrogates as three bytes each (WTF-8). */
export function encodeText(text: string): Buffer {
  if (text.isWellFormed()) return Buffer.from(text, 'utf8')
  const parts: Buffer[] = []
  let from = 0
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit < 0xd800 || unit > 0xdfff) continue
    const next = text.charCodeAt(index + 1)
    if (unit < 0xdc00 && next >= 0xdc00 && next <= 0xdfff) {
      index++
      continue
    }
    parts.push(Buffer.from(text.slice(from, index), 'utf8'))
    parts.push(Buffer.from([0xe0 | (unit >> 12), 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f)]))
    from = index + 1
  }
  parts.push(Buffer.from(text.slice(from), 'utf8'))
  return Buffer.concat(parts)
}

/** The reverse of {@link encodeText}. */
export function decodeText(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (isUtf8(buffer)) return buffer.toString('utf8')
  let text = ''
  let from = 0
  // In UTF-8 a byte 0xED is followed by 0x80 to 0x9F; a higher byte means a lone surrogate.
  for (let index = buffer.indexOf(0xed); index !== -1; index = buffer.indexOf(0xed, index + 1)) {
    const second = buffer[index + 1] ?? 0
    if (second < 0xa0) continue
    const third = buffer[index + 2] ?? 0
    text += buffer.toString('utf8', from, index) + String.fromCharCode(0xd000 | ((second & 0x3f) << 6) | (third & 0x3f))
    from = index + 3
  }
  return text + buffer.toString('utf8', from)
}
