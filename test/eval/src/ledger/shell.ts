import { posix } from 'node:path'
import { apply, type Called, changedBy, SPEAKING, VIEWERS } from './file-commands.js'
import { type Scratch, SOMEWHERE } from './scratch.js'
import { parseScript, type Script } from './shell-syntax.js'
import type { Redirection } from './shell-tokens.js'
import type { Word } from './shell-words.js'

/** The knowledge of how a command ended: that it succeeded, that it failed or did not run, or neither. */
type Success = 'yes' | 'no' | 'maybe'

/** Replays command lines on a scratch folder, by their exit status and their output. The folder of the shell outlives each line. */
export class Shell {
  folder = SOMEWHERE
  readonly #variables = new Map<string, string | null>()
  #output = ''
  #isPiped = false

  constructor(readonly scratch: Scratch) {}

  /** @returns whether the line could be read */
  run(line: string, { hasSucceeded, output }: { readonly hasSucceeded: boolean; readonly output: string }): boolean {
    let script: Script
    try {
      script = parseScript(line)
    } catch {
      return false
    }
    this.#output = output
    this.#variables.clear()
    this.#run(script, 'yes', hasSucceeded ? 'yes' : 'no')
    const isAsked = /^\s*pwd\s*$/.test(line)
    const named = isAsked ? /^(\/\S+)$/.exec(output.trim())?.[1] : /Shell cwd was reset to (\/\S+)/.exec(output)?.[1]
    if (named !== undefined) this.folder = named
    return true
  }

  #run(script: Script, started: Success, success: Success): Success {
    if (started === 'no') return 'no'
    switch (script.kind) {
      case 'command':
        return this.#command(script, started, success)
      case 'chain':
        return script.operators.includes('||')
          ? this.#alternatives(script.parts, script.operators, started, success)
          : this.#sequence(script.parts, started, success)
      case 'pipe': {
        this.#isPiped = true
        for (const part of script.parts.slice(0, -1)) this.#run(part, started, 'maybe')
        this.#isPiped = false
        return this.#last(script.parts, started, success)
      }
      case 'list': {
        for (const part of script.parts.slice(0, -1)) this.#run(part, started, 'maybe')
        return this.#last(script.parts, started, success)
      }
      case 'group': {
        const folder = this.folder
        const status = this.#last(script.parts, started, success)
        this.folder = folder
        return status
      }
      case 'loop': {
        const values = script.words.flatMap((word) => this.#resolve(word) ?? [null])
        for (const [index, value] of values.entries()) {
          this.#variables.set(script.variable, value)
          this.#run(script.body, started, index === values.length - 1 ? success : 'maybe')
        }
        return success
      }
      case 'maybe': {
        for (const [index, part] of script.parts.entries()) this.#run(part, index === 0 ? started : 'maybe', 'maybe')
        return success
      }
    }
  }

  #last(parts: readonly Script[], started: Success, success: Success): Success {
    const last = parts.at(-1)
    return last === undefined ? 'yes' : this.#run(last, started, success)
  }

  /** `a && b && c`: if it failed, one of those failed that do not say so. */
  #sequence(parts: readonly Script[], started: Success, success: Success): Success {
    if (success === 'yes') {
      for (const part of parts) this.#run(part, started, 'yes')
      return 'yes'
    }
    const silent = parts.flatMap((part, index) => (this.#speaks(part) ? [] : [index]))
    const [first, last] = [silent[0] ?? parts.length, silent.at(-1) ?? -1]
    let before: Success = started
    for (const [index, part] of parts.entries()) {
      if (before === 'no') break
      if (success === 'no' && index > last && last !== -1) break
      if (index < first) before = this.#run(part, before, success === 'no' && first === parts.length ? 'maybe' : 'yes')
      else {
        this.#run(part, before, 'maybe')
        before = 'maybe'
      }
    }
    return success
  }

  #alternatives(parts: readonly Script[], operators: readonly string[], started: Success, success: Success): Success {
    let status: Success = started
    for (const [index, part] of parts.entries()) {
      const operator = operators[index - 1]
      const runs: Success = index === 0 ? started : operator === '&&' ? status : opposite(status)
      if (runs === 'no') continue
      const isLast = index === parts.length - 1 && runs === 'yes'
      const own = this.#run(part, runs, isLast ? success : 'maybe')
      status = runs === 'yes' ? own : 'maybe'
    }
    return status
  }

  /** Whether a command prints a message when it fails, which the output then has. */
  #speaks(script: Script): boolean {
    if (script.kind !== 'command') return false
    const name = this.#resolve(script.words[0])?.[0] ?? ''
    const isSilenced = script.redirections.some(({ operator }) => operator === '2>') || this.#isPiped
    return SPEAKING.has(name) && (!isSilenced || ['echo', 'printf', 'true', ':'].includes(name))
  }

  #command(script: Extract<Script, { kind: 'command' }>, started: Success, success: Success): Success {
    const resolved = script.words.map((word) => this.#resolve(word))
    const [first = null] = resolved
    const assigned = /^(\w+)=(.*)$/s.exec(first?.[0] ?? '')
    if (assigned !== null && script.words.length === 1) {
      this.#variables.set(assigned[1] ?? '', assigned[2] ?? '')
      return 'yes'
    }
    const unknownName = /^(\w+)=/.exec(String(script.words[0]?.parts[0] ?? ''))?.[1]
    if (unknownName !== undefined && first === null) this.#variables.set(unknownName, null)
    const name = first?.[0] ?? ''
    const words = resolved.slice(1)
    const status = this.#statusOf(name, script, success)
    if (status === 'no') return 'no'
    const isKnown = words.every((word) => word !== null)
    const input = script.redirections.find(({ operator }) => operator === '<<')?.body ?? null
    const called: Called = { name, words: words.flatMap((word) => word ?? []), at: (path) => this.#at(path), input }
    if (name === 'cd') {
      const [to] = called.words
      this.folder = isKnown && to !== undefined && to !== '-' && called.words.length === 1 ? this.#at(to) : SOMEWHERE
      return status
    }
    const files = isKnown ? changedBy(called) : []
    const redirected = script.redirections.flatMap((each) => this.#redirected(each))
    if (started === 'maybe' || (status === 'maybe' && !this.#speaks(script))) {
      for (const path of [...files, ...(started === 'maybe' ? redirected.map(({ path }) => path) : [])])
        this.scratch.doubtful.add(path)
      if (started === 'maybe') return 'maybe'
    } else if (isKnown) {
      if (VIEWERS.has(name) || (name === 'sed' && called.words.includes('-n')))
        this.#view(called, redirected.length > 0)
      apply(called, this.scratch)
    }
    for (const { path, isAppended } of redirected) {
      const content = name === 'cat' && called.words.length === 0 ? input : printed(called)
      if (isAppended) this.scratch.append(path, content)
      else this.scratch.write(path, content)
    }
    return status
  }

  #statusOf(name: string, script: Extract<Script, { kind: 'command' }>, success: Success): Success {
    if (success !== 'maybe') return success
    const error = new RegExp(`^(?:\\S+ )?(?:[\\w/]*sh: |\\(eval\\)[:\\d ]*)?(?:line \\d+: )?${escaped(name)}:`, 'm')
    const shell =
      /^(?:(?:\/\S*\/)?(?:ba|z|da)?sh|\(eval\)):.*(?:no such file|permission denied|is a directory|cannot create)/im
    if (name !== '' && SPEAKING.has(name) && error.test(this.#output)) return 'no'
    if (script.redirections.some(({ operator }) => operator.startsWith('>')) && shell.test(this.#output)) return 'no'
    return this.#speaks(script) ? 'yes' : 'maybe'
  }

  #redirected({ operator, target }: Redirection): { readonly path: string; readonly isAppended: boolean }[] {
    if (operator === '<' || operator === '<<') return []
    const [path] = this.#resolve(target) ?? []
    return path === undefined || path.startsWith('/dev/')
      ? []
      : [{ path: this.#at(path), isAppended: operator === '>>' }]
  }

  /** Of a viewer whose output is shown. */
  #view({ name, words, at }: Called, isRedirected: boolean): void {
    const plain = words.filter((word) => !/^[-+]/.test(word) && !/^\d+$/.test(word))
    const files = name === 'sed' ? plain.slice(1) : plain
    if (isRedirected || this.#isPiped || words.includes('-c')) return
    for (const file of files) this.scratch.view(at(file), null)
  }

  /** The values of a word; null if a substitution decides it. */
  #resolve(word: Word | undefined): string[] | null {
    if (word === undefined || word.isUnknown) return null
    const parts = word.parts.map((part) => (typeof part === 'string' ? part : this.#variables.get(part.variable)))
    if (parts.some((part) => part === undefined || part === null)) return null
    const text = parts.join('')
    if (!word.isGlob) return [text]
    const found = this.scratch.expand(this.#at(text))
    return found.length === 0 ? null : found
  }

  #at(path: string): string {
    if (path.startsWith('/')) return posix.normalize(path).replace(/(.)\/$/, '$1')
    const whole = posix.join(this.folder, path).replace(/(.)\/$/, '$1')
    if (!this.folder.startsWith(SOMEWHERE) || !path.includes('/')) return whole
    const [known, ...others] = this.scratch.endingWith(posix.normalize(path))
    return known !== undefined && others.length === 0 ? known : whole
  }
}

function opposite(status: Success): Success {
  return status === 'yes' ? 'no' : status === 'no' ? 'yes' : 'maybe'
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

/** The output of `echo` and `printf` without special signs. */
function printed({ name, words }: Called): string | null {
  const isPlain = words.every((word) => !/[\\%]/.test(word) && !word.startsWith('-'))
  if (name === 'echo' && isPlain) return `${words.join(' ')}\n`
  return name === 'printf' && words.length === 1 && isPlain ? (words[0] ?? '') : null
}
