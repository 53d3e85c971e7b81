import { ActionLog } from '../extractive/actions.js'
import { NameIndex } from '../extractive/name-index.js'
import { planSteps } from '../extractive/plans.js'
import { type Subject, Subjects } from '../extractive/subjects.js'
import type { Pausable } from '../recall/steps.js'
import { speechOf } from '../speech/sentences.js'
import type { SummarySource } from '../speech/source.js'
import { speakerText } from '../speech/speaker-text.js'
import { plainWords } from '../summarizing/pinned.js'
import { isOnlySigns, oneLine, truncate } from '../tools/lines.js'
import { normalizePath } from '../tools/paths.js'
import { AtomSet } from './atom.js'
import { FileStates, PATH_CHARACTERS_MAX } from './file-states.js'
import { addStatements, isCorrection } from './spoken.js'
import { identifiersIn, numbersIn, pathsIn, urlsIn } from './tokens.js'

/** Characters of a call's texts in which addresses are searched. */
const CALL_CHARACTERS_MAX = 8_000
const TEXT_CHARACTERS_MAX = 320

/**
 * Collects the atoms of a conversation without a model, in time linear in its messages. They may be given in pages; texts are
 * read as far as a summarizer reads them.
 */
export class AtomCollector {
  readonly #atoms = new AtomSet()
  readonly #log = new ActionLog(new NameIndex())
  readonly #files = new Subjects()
  readonly #states = new FileStates()
  readonly #holders = new Map<Subject, { readonly references: Set<string>; readonly spellings: Set<string> }>()
  #todos: { readonly text: string; readonly reference: string }[] = []
  #place = 0

  /** The atoms of what was added so far. */
  result(): AtomSet {
    const atoms = this.#atoms
    for (const [{ label }, { references, spellings }] of this.#holders) {
      for (const reference of references.size === 0 ? [''] : references) {
        const atom = atoms.add('path', label, label, reference)
        if (atom !== null) atom.state = this.#states.of(spellings)
      }
    }
    for (const subject of this.#log.subjects.all()) {
      if (subject.kind !== 'action' || subject.importance === 0 || subject.runs === 0 || isOnlySigns(subject.label))
        continue
      const atom = atoms.add('command', subject.label, commandText(subject), subject.reference)
      if (atom !== null) atom.state = subject.status === 'ok' || subject.status === 'exit 0' ? 'passed' : 'failed'
    }
    for (const { line, label, isUsage, reference, resolution } of this.#log.errors.all()) {
      if (isUsage) continue
      const atom = atoms.add(
        'error',
        `${line} ${label}`,
        `${line} (${label}; ${resolution ?? 'not seen resolved'})`,
        reference,
      )
      if (atom !== null) atom.state = resolution === null ? 'open' : 'solved'
    }
    for (const { text, reference } of this.#todos) atoms.add('todo', plainWords(text), text, reference)
    return atoms
  }

  /** Adds messages in the order of their conversation. */
  *add(messages: readonly SummarySource[]): Pausable<void> {
    for (const source of speakerText(messages)) {
      this.#addOne(source)
      yield
    }
  }

  #addOne(source: SummarySource): void {
    const place = this.#place++
    const { role, reference } = source
    if (role === 'tool_result') {
      this.#states.addResult(source)
      const refusal = this.#log.addResult(source, place)
      if (refusal !== '' && isCorrection(refusal))
        this.#atoms.add('correction', plainWords(refusal), truncate(refusal, TEXT_CHARACTERS_MAX), reference)
      return
    }
    if (role !== 'user' && role !== 'assistant' && role !== 'tool_use') return
    const speech = speechOf(source.text)
    addStatements(this.#atoms, source)
    for (const url of urlsIn(speech)) this.#atoms.add('url', url, url, reference)
    for (const { key, text } of numbersIn(speech)) this.#atoms.add('number', key, text, reference)
    for (const name of identifiersIn(speech)) this.#atoms.add('identifier', name, name, reference)
    for (const path of pathsIn(speech)) this.#addPath(path, reference, place)
    if (role !== 'user') this.#addCalls(source, place)
  }

  #addCalls(source: SummarySource, place: number): void {
    this.#log.addCalls(source, place)
    for (const action of this.#states.addCalls(source)) {
      const { use } = action
      if (use.kind === 'edit' || use.kind === 'file_view') {
        for (const path of use.paths) this.#addPath(path, source.reference, place)
      }
      for (const { path } of use.writes) this.#addPath(path, source.reference, place)
      for (const url of urlsIn(action.added.slice(0, CALL_CHARACTERS_MAX))) {
        if (use.kind !== 'edit') this.#atoms.add('url', url, url, source.reference)
      }
      const steps = planSteps(action, place, source.reference)
      if (steps.length > 0) this.#todos = steps.filter(({ section }) => section === 'next')
    }
  }

  /** Tools name one file by several paths. */
  #addPath(given: string, reference: string, place: number): void {
    if (given.length > PATH_CHARACTERS_MAX) return
    const path = normalizePath(given)
    if (path === '' || path === '/' || path === '.') return
    const file = this.#files.of('file', path, place)
    const holders = this.#holders.get(file) ?? { references: new Set(), spellings: new Set() }
    this.#holders.set(file, holders)
    holders.spellings.add(path)
    if (reference !== '') holders.references.add(reference)
  }
}

/** Last lines that a shell or a runner of tasks writes, and not the command. */
const NO_OUTCOME = /^(?:bash-\$|\((?:Open file|Current directory): |\[[\w:.-]{1,40}\] \$ |=== (?:RUN|CONT|PAUSE)\b)/

function commandText({ label, status, outcome: last }: Subject): string {
  const outcome = NO_OUTCOME.test(last) ? '' : last
  const ended =
    status === 'ok' || status === 'exit 0' ? outcome : oneLine(`${status}${outcome === '' ? '' : `, ${outcome}`}`)
  return `${label}: ${ended || status}`
}
