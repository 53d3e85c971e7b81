import { plainText, type Word, wordAt } from './shell-words.js'

export interface Redirection {
  readonly operator: '>' | '>>' | '<' | '2>' | '<<'
  readonly target: Word
  /** Of a here-document. */
  readonly body: string | null
}

export type Token = { readonly operator: string } | { readonly word: Word } | { readonly redirection: Redirection }

const OPERATORS = ['&&', '||', ';;', ';', '|&', '|', '&', '(', ')', '\n']

/** @throws Error for a sign that it cannot read, and for a quotation or a here-document without its end */
export function tokensOf(text: string): Token[] {
  const tokens: Token[] = []
  const waiting: { readonly index: number; readonly end: string; readonly isIndented: boolean }[] = []
  let at = 0
  while (at < text.length) {
    const rest = text.slice(at)
    const blank = /^(?:[ \t\r]|\\\n)+/.exec(rest)?.[0]
    if (blank !== undefined) at += blank.length
    else if (rest.startsWith('#')) at += /^[^\n]*/.exec(rest)?.[0].length ?? 0
    else {
      const redirection = /^(\d*|&)(<<-?|>>|>\||>&|<&|>|<)[ \t]*/.exec(rest)
      const operator = OPERATORS.find((each) => rest.startsWith(each))
      if (redirection !== null && !rest.startsWith('<<<')) {
        const [whole, descriptor = '', sign = ''] = redirection
        const { word, length } = wordAt(text, at + whole.length)
        at += whole.length + length
        if (sign === '<&' || (sign === '>&' && /^[\d-]$/.test(plainText(word) ?? ''))) continue
        if (sign.startsWith('<<')) {
          waiting.push({ index: tokens.length, end: plainText(word) ?? '', isIndented: sign === '<<-' })
          tokens.push({ redirection: { operator: '<<', target: word, body: '' } })
        } else {
          const isError = descriptor !== '' && descriptor !== '1' && descriptor !== '&'
          const kind = sign === '<' ? '<' : isError ? '2>' : sign === '>>' ? '>>' : '>'
          tokens.push({ redirection: { operator: kind, target: word, body: null } })
        }
      } else if (operator !== undefined) {
        at += operator.length
        tokens.push({ operator })
        if (operator === '\n') for (const each of waiting.splice(0)) at = readBody(text, at, each, tokens)
      } else {
        const { word, length } = wordAt(text, at)
        if (length === 0) throw new Error(`a sign that is not read: ${rest.slice(0, 10)}`)
        at += length
        tokens.push({ word })
      }
    }
  }
  if (waiting.length > 0) throw new Error('a here-document without its text')
  return tokens
}

function readBody(
  text: string,
  start: number,
  { index, end, isIndented }: { readonly index: number; readonly end: string; readonly isIndented: boolean },
  tokens: Token[],
): number {
  const lines: string[] = []
  let at = start
  while (at < text.length) {
    const next = text.indexOf('\n', at)
    const stop = next === -1 ? text.length : next
    const line = text.slice(at, stop)
    at = Math.min(stop + 1, text.length)
    if ((isIndented ? line.replace(/^\t+/, '') : line) === end) {
      const token = tokens[index]
      if (token !== undefined && 'redirection' in token)
        tokens[index] = { redirection: { ...token.redirection, body: lines.map((each) => `${each}\n`).join('') } }
      // The end of its line also ends a command.
      tokens.push({ operator: '\n' })
      return at
    }
    lines.push(line)
  }
  throw new Error('a here-document without its end')
}
