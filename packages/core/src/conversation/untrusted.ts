/*
 * Text of others is between tags that mark it as data. A model reads a tag in other forms, too: in any case, in full-width
 * characters, as character references, with invisible characters in between. None of them may end the section early.
 */

/** Replaces the sign with which a tag begins: it looks alike, and begins no tag in any form. */
const INERT = '‹'

/** Characters without width, and spaces; bounded, so that no text takes more than linear time. */
const FILLING = '[\\s\\u00ad\\u200b-\\u200f\\u2060\\ufeff]{0,8}'

/** `name="value" ...` for an opening tag, on one line. */
export function attributesOf(attributes: Readonly<Record<string, string>>): string {
  const quoted = (value: string) =>
    value.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replace(/\s+/g, ' ')
  return Object.entries(attributes)
    .map(([name, value]) => `${name}="${quoted(value)}"`)
    .join(' ')
}

const patterns = new Map<string, RegExp>()

/** A text in which no form of the tag begins or ends a section. */
export function withoutTag(text: string, tag: string): string {
  const known = patterns.get(tag)
  const pattern = known ?? tagPattern(tag)
  if (known === undefined) patterns.set(tag, pattern)
  return text.replace(pattern, INERT)
}

function tagPattern(tag: string): RegExp {
  const name = [...tag].map((character) => `${FILLING}${formsOf(character)}`).join('')
  return new RegExp(`${formsOf('<')}(?=${FILLING}(?:${formsOf('/')})?${name})`, 'giu')
}

/** A character of ASCII as it is, in full width, in its small form, and as character references. */
function formsOf(character: string): string {
  const cases = [...new Set([character.toLowerCase(), character.toUpperCase()])]
  const codes = cases.map((each) => each.codePointAt(0) ?? 0)
  const wide = codes.map((code) => String.fromCodePoint(code + 0xfee0))
  const literal = [...cases, ...wide, ...(alike[character] ?? [])].map(
    (each) => `\\u{${each.codePointAt(0)?.toString(16)}}`,
  )
  const references = codes.flatMap((code) => [`&#0{0,8}${code};?`, `&#x0{0,8}${code.toString(16)};?`])
  return `(?:${[...literal, ...references, ...(named[character] ?? [])].join('|')})`
}

const alike: Readonly<Record<string, readonly string[]>> = { '<': ['﹤'], '-': ['﹣', '‐', '‑'], '/': ['∕', '⁄'] }
const named: Readonly<Record<string, readonly string[]>> = {
  '<': ['&lt;?'],
  '/': ['&sol;?'],
  '-': ['&hyphen;?', '&dash;?'],
}
