import { type Redirection, type Token, tokensOf } from './shell-tokens.js'
import { literal, type Word } from './shell-words.js'

/*
 * A reader of shell scripts as agents write them: lists, chains, pipes, loops over words, groups and here-documents. It shares no
 * code with the rules that it is there to judge.
 */

export type Script =
  | { readonly kind: 'command'; readonly words: readonly Word[]; readonly redirections: readonly Redirection[] }
  | { readonly kind: 'pipe' | 'list' | 'group'; readonly parts: readonly Script[] }
  | { readonly kind: 'chain'; readonly parts: readonly Script[]; readonly operators: readonly ('&&' | '||')[] }
  | { readonly kind: 'loop'; readonly variable: string; readonly words: readonly Word[]; readonly body: Script }
  /** Parts that may run, or not. */
  | { readonly kind: 'maybe'; readonly parts: readonly Script[] }

const CLOSING = new Set(['done', 'fi', 'then', 'else', 'elif', 'do', '}', 'esac'])

/** @throws Error for a script that it cannot read */
export function parseScript(text: string): Script {
  const reader = new Reader(tokensOf(text))
  const script = reader.list()
  if (!reader.isAtEnd()) throw new Error('the script goes on after its end')
  return script
}

class Reader {
  #at = 0

  constructor(private readonly tokens: readonly Token[]) {}

  isAtEnd(): boolean {
    return this.#at >= this.tokens.length
  }

  list(): Script {
    const parts: Script[] = []
    for (;;) {
      while (this.#takes(';') || this.#takes('\n'));
      if (this.isAtEnd() || this.#operator() === ')' || CLOSING.has(this.#keyword())) break
      const part = this.#chain()
      parts.push(this.#takes('&') ? { kind: 'maybe', parts: [part] } : part)
    }
    return { kind: 'list', parts }
  }

  #chain(): Script {
    const parts = [this.#pipe()]
    const operators: ('&&' | '||')[] = []
    for (let operator = this.#operator(); operator === '&&' || operator === '||'; operator = this.#operator()) {
      this.#at++
      while (this.#takes('\n'));
      operators.push(operator)
      parts.push(this.#pipe())
    }
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : { kind: 'chain', parts, operators }
  }

  #pipe(): Script {
    const parts = [this.#command()]
    while (this.#takes('|') || this.#takes('|&')) {
      while (this.#takes('\n'));
      parts.push(this.#command())
    }
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : { kind: 'pipe', parts }
  }

  #command(): Script {
    if (this.#takes('(')) {
      const body = this.list()
      if (!this.#takes(')')) throw new Error('a group without its end')
      return this.#redirected({ kind: 'group', parts: [body] })
    }
    switch (this.#keyword()) {
      case 'for':
        return this.#redirected(this.#loop())
      case 'if':
        return this.#redirected(this.#condition())
      case 'while':
      case 'until':
        return this.#redirected(this.#repetition())
      case '{': {
        this.#at++
        const body = this.list()
        this.#expect('}')
        return this.#redirected(body)
      }
      case 'case':
      case 'function':
        throw new Error('a form that is not read')
      default:
        return this.#simple()
    }
  }

  /** The redirections of a group change files, too. */
  #redirected(inner: Script): Script {
    const redirections: Redirection[] = []
    for (
      let token = this.tokens[this.#at];
      token !== undefined && 'redirection' in token;
      token = this.tokens[++this.#at]
    )
      redirections.push(token.redirection)
    if (redirections.length === 0) return inner
    return { kind: 'pipe', parts: [inner, { kind: 'command', words: [literal('cat')], redirections }] }
  }

  #loop(): Script {
    this.#at++
    const variable = this.#keyword()
    this.#at++
    this.#expect('in')
    const words: Word[] = []
    for (let token = this.tokens[this.#at]; token !== undefined && 'word' in token; token = this.tokens[++this.#at])
      words.push(token.word)
    while (this.#takes(';') || this.#takes('\n'));
    this.#expect('do')
    const body = this.list()
    this.#expect('done')
    return { kind: 'loop', variable, words, body }
  }

  #condition(): Script {
    this.#at++
    const parts = [this.list()]
    this.#expect('then')
    parts.push(this.list())
    while (this.#keyword() === 'elif' || this.#keyword() === 'else') {
      const isLast = this.#keyword() === 'else'
      this.#at++
      parts.push(this.list())
      if (isLast) break
      this.#expect('then')
      parts.push(this.list())
    }
    this.#expect('fi')
    return { kind: 'maybe', parts }
  }

  #repetition(): Script {
    this.#at++
    const parts = [this.list()]
    this.#expect('do')
    parts.push(this.list())
    this.#expect('done')
    return { kind: 'maybe', parts }
  }

  #simple(): Script {
    const words: Word[] = []
    const redirections: Redirection[] = []
    for (;;) {
      const token = this.tokens[this.#at]
      if (token === undefined || 'operator' in token) break
      this.#at++
      if ('word' in token) words.push(token.word)
      else redirections.push(token.redirection)
    }
    if (words.length === 0 && redirections.length === 0) throw new Error('a command without words')
    return { kind: 'command', words, redirections }
  }

  #operator(): string {
    const token = this.tokens[this.#at]
    return token !== undefined && 'operator' in token ? token.operator : ''
  }

  #keyword(): string {
    const token = this.tokens[this.#at]
    const part = token !== undefined && 'word' in token && token.word.parts.length === 1 ? token.word.parts[0] : ''
    return typeof part === 'string' ? part : ''
  }

  #takes(operator: string): boolean {
    if (this.#operator() !== operator) return false
    this.#at++
    return true
  }

  #expect(keyword: string): void {
    if (this.#keyword() !== keyword) throw new Error(`${keyword} is missing`)
    this.#at++
  }
}
