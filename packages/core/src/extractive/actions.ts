import type { Candidate } from '../speech/sections.js'
import { speechOf } from '../speech/sentences.js'
import type { SummarySource } from '../speech/source.js'
import { firstLines, oneLine, truncate } from '../tools/lines.js'
import { normalizePath } from '../tools/paths.js'
import { describeToolResult } from '../tools/results.js'
import { type Action, actionsOf } from './calls.js'
import { readCode } from './code.js'
import { addEdit, readText } from './edits.js'
import { ErrorLog } from './error-log.js'
import type { NameIndex } from './name-index.js'
import { baseName, isFileName, namesIn } from './names.js'
import { planSteps } from './plans.js'
import { reasonIn } from './reasons.js'
import { refusalIn, refusalLine } from './refusals.js'
import { type Subject, Subjects } from './subjects.js'

/** Strength of the tie between a name and the subject in which it occurs. */
const STRENGTHS = { defined: 6, edited: 3, removed: 2, seen: 0.7 } as const
const DECLARED_STRENGTH = 3
/** Names in an output are tied more weakly to its command than to a file. */
const OUTPUT_STRENGTH = 0.3

/** Commands that check whether an edit is correct. */
const CHECK =
  /(?:^|[\s:/&|;-])(?:tests?|spec|jest|vitest|mocha|pytest|tox|rspec|phpunit|lint|check|build|tsc|typecheck|type-check|clippy|vet|compile|mypy|pyright|ruff|eslint|biome|make|gradlew?|mvn|verify)\b/i
const CREATED =
  /\bfile (?:has been )?created\b|\bcreated (?:successfully|new file|file)\b|\bnew file\b|\bwrote \d+ (?:lines|bytes)\b/i

/** A call whose result is expected, with the names in its texts. */
interface Pending {
  readonly action: Action
  readonly reference: string
  readonly added: ReadonlySet<string>
  readonly removed: ReadonlySet<string>
}

function pendingOf(action: Action, reference: string): Pending {
  return { action, reference, added: namesIn(action.added), removed: namesIn(action.removed) }
}

/**
 * The actions of an agent: the files it touched, the commands it ran, how they ended, and which failures were overcome.
 */
export class ActionLog {
  readonly subjects = new Subjects()
  readonly errors = new ErrorLog()
  /** Texts that the user sent instead of letting a call run. */
  readonly refusals: Candidate[] = []
  /** The steps of the latest plan. */
  plan: readonly Candidate[] = []
  /** The files that were edited since the last check that passed. */
  private readonly unchecked = new Set<Subject>()
  /** The agent's latest text. */
  private speech = ''
  private pending: Pending[] = []

  constructor(private readonly names: NameIndex) {}

  /**
   * Adds a message with calls; their results are expected next, in the order of the calls.
   *
   * @param speech of its text, by `speechOf`
   */
  addCalls(source: SummarySource, place: number, speech = speechOf(source.text)): void {
    this.speech = speech.trim() || this.speech
    this.pending = actionsOf(source).map((action) => pendingOf(action, source.reference))
    for (const { action, added, removed } of this.pending) {
      const steps = planSteps(action, place, '')
      if (steps.length > 0) this.plan = steps
      const { use } = action
      this.names.add(use.paths.map(baseName).filter(isFileName), use.kind === 'edit' ? 'edited' : 'called', place)
      this.names.add(added, use.kind === 'edit' ? 'edited' : 'called', place)
      this.names.add(removed, 'edited', place)
    }
  }

  /** Adds a result. Returns the user's text if the user refused the call, else an empty string. */
  addResult(source: SummarySource, place: number, speech = speechOf(source.text)): string {
    const taken = this.takePending(source.toolName)
    const found = namesIn(speech)
    this.names.add(found, source.isError ? 'failed' : 'shown', place)
    if (!taken) return ''
    const { action } = taken
    const { use } = action
    const outcome = describeToolResult(use, source.text, source.isError)
    const failed = outcome.failed || outcome.exitStatus === 'failed'
    const refusal = failed ? refusalIn(source.text) : null
    if (refusal !== null) {
      const label = use.path ?? (action.label || action.name)
      if (refusal !== '') this.refusals.push(refusalLine(refusal, label, place, source.reference))
      return refusal
    }
    if (use.kind === 'edit' && !failed) this.addEdit(taken, source.text, place)
    else if (use.kind === 'file_view' && use.path !== null && !failed)
      this.addView(use.path, source, { place, names: speech === source.text ? found : namesIn(source.text) })
    else if (use.kind === 'grep') this.addSearch(action, source, place)
    if (use.kind !== 'edit' && use.kind !== 'file_view' && action.label !== '') {
      const subject = this.subjects.of('action', action.label, place)
      subject.runs++
      if (failed) subject.failures++
      subject.status = outcome.exitStatus
      subject.reference = source.reference
      subject.importance = importanceOf(action)
      subject.outcome = use.kind === 'grep' ? foundText(outcome.matchCount) : lastWords(source.text)
      for (const name of [...taken.added, ...found]) this.names.tie(name, subject, OUTPUT_STRENGTH)
      const check = use.kind === 'bash' ? checkIn(action.label) : null
      if (check !== null) this.addCheck(check, !failed && outcome.exitStatus !== 'failed')
    }
    const key = use.path ?? action.label
    if (failed) this.errors.failed(source, action, key, place)
    else this.errors.succeeded(key)
    return ''
  }

  private takePending(toolName: string | null): Pending | null {
    const named = this.pending.findIndex(({ action }) => action.name === toolName)
    return this.pending.splice(Math.max(named, 0), 1)[0] ?? null
  }

  /** A passed check settles all edits before it; after a failed one, another check may follow. */
  private addCheck(label: string, hasPassed: boolean): void {
    for (const { edits } of this.unchecked) edits.check = { label, hasPassed }
    if (hasPassed) this.unchecked.clear()
  }

  private addEdit({ action, reference, added: names, removed: before }: Pending, result: string, place: number): void {
    const { use, added, removed } = action
    const [from, to] = [readText(removed), readText(added)]
    const reason = reasonIn(this.speech)
    for (const path of use.paths) {
      const subject = this.subjects.of('file', normalizePath(path), place)
      if (subject.edits.count === 0 && subject.views === 0 && CREATED.test(result.slice(0, 300))) {
        subject.edits.isCreated = true
      }
      addEdit(subject.edits, path, { from, to, reason })
      this.unchecked.add(subject)
      subject.reference = reference
      this.errors.edited(baseName(path))
      this.names.tie(baseName(path), subject, 100)
      for (const name of names) {
        const isNew = removed === '' || !before.has(name)
        this.names.tie(name, subject, isNew && to.code.declared.has(name) ? STRENGTHS.defined : STRENGTHS.edited)
      }
      for (const name of before) if (!names.has(name)) this.names.tie(name, subject, STRENGTHS.removed)
      for (const [name, scope] of to.code.scopes) subject.scopes.set(name, scope)
    }
  }

  private addView(
    path: string,
    source: SummarySource,
    { place, names }: { readonly place: number; readonly names: ReadonlySet<string> },
  ): void {
    const subject = this.subjects.of('file', normalizePath(path), place)
    subject.views++
    this.names.tie(baseName(path), subject, 100)
    const { declared, scopes } = readCode(source.text)
    for (const [name, scope] of scopes) subject.scopes.set(name, scope)
    for (const name of names) this.names.tie(name, subject, declared.has(name) ? DECLARED_STRENGTH : STRENGTHS.seen)
  }

  /** Names in a search result are tied to the files in which they were found. */
  private addSearch({ use }: Action, source: SummarySource, place: number): void {
    const searched = use.searchPath !== null && isFileName(use.searchPath) ? normalizePath(use.searchPath) : null
    for (const line of firstLines(source.text, 300)) {
      const path = /^([^\s:]{1,300}\.\w{1,6})(?::\d|-\d)/.exec(line)?.[1]
      const file = path === undefined ? searched : normalizePath(path)
      if (file === null) continue
      const subject = this.subjects.of('file', file, place)
      for (const name of namesIn(line.slice(path?.length ?? 0))) this.names.tie(name, subject, STRENGTHS.seen)
      this.names.tie(baseName(file), subject, 0.2)
    }
  }
}

/** The checking command on a line of several commands. */
export function checkIn(label: string): string | null {
  const commands = label.split(/ (?:&&|\||;|>) /)
  return commands.find((each) => CHECK.test(each) && !LOOKS.test(each) && !CONDITION.test(each)) ?? null
}

function foundText(matches: number | null): string {
  return matches === null || matches === 0 ? 'nothing found' : matches === 1 ? '1 match' : `${matches} matches`
}

/** Lines of code, diffs and markup are poor descriptions. */
const MARKUP = /^\s*(?:[<+#*}\])]|\/\/|-\S)/

/** The last output of a command. */
export function lastWords(text: string): string {
  const lines = firstLines(text.slice(-2_000), 60).filter((line) => /[\p{L}\p{N}]/u.test(line) && !MARKUP.test(line))
  return truncate(oneLine(lines.at(-1) ?? ''), 100)
}

const LOOKS = /^(?:ls|cat|grep|rg|find|head|tail|sed -n|git (?:\S+ \S+ )?(?:status|log|diff|show)|echo|pwd|which|wc)\b/

/** The shell's own `test`, which checks no edit. */
const CONDITION = /^(?:test (?:-\w|!|\S{1,200} (?:=|-\w))|\[)/

/** Actions with side effects weigh more than reads. */
export function importanceOf({ name, use, label }: Action): number {
  const changes =
    /(?:^|_)(?:create|update|cancel|book|send|delete|transfer|add|remove|set|pay|modify|exchange|return|submit|commit|push|install|deploy|rm|mv)/i
  if (use.kind === 'bash')
    return LOOKS.test(label) ? 0 : /\b(?:test|build|lint|commit|push|install|deploy|migrate)\b/.test(label) ? 4 : 2
  return use.kind === 'grep' ? 0 : changes.test(name) ? 5 : 1
}
