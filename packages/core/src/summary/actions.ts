import { errorLine, firstMeaningfulLine } from '../prune/one-line.js'
import { describeToolCall, type ToolUse } from '../tools/catalog.js'
import { oneLine, truncate } from '../tools/lines.js'
import { describeToolResult } from '../tools/results.js'
import type { Candidate } from './sections.js'
import type { SummarySource } from './source.js'

interface Action {
  readonly name: string
  readonly use: ToolUse
  /** The command, or the call in a few words. */
  readonly label: string
}

interface FileRecord {
  edits: number
  views: number
  place: number
}

interface ActionRecord {
  runs: number
  failures: number
  status: string
  place: number
  readonly weight: number
}

interface ErrorRecord {
  readonly line: string
  readonly label: string
  readonly key: string
  times: number
  place: number
  reference: string
  resolved: boolean
}

/** What an agent did: the files it touched, the commands it ran, how they ended, and which failures were overcome. */
export class ActionLog {
  private pending: Action[] = []
  private readonly files = new Map<string, FileRecord>()
  private readonly actions = new Map<string, ActionRecord>()
  private readonly errors = new Map<string, ErrorRecord>()
  private readonly openErrors = new Map<string, ErrorRecord[]>()

  /** Takes in a message with calls; their results are expected next, in the order of the calls. */
  addCalls(source: SummarySource, place: number): void {
    this.pending = callsIn(source.text)
    for (const { use } of this.pending) {
      if (use.kind !== 'edit' && use.kind !== 'file_view') continue
      for (const path of use.paths) {
        const record = remember(this.files, path, { edits: 0, views: 0, place })
        if (use.kind === 'edit') record.edits++
        else record.views++
        record.place = place
      }
    }
  }

  addResult(source: SummarySource, place: number): void {
    const action = this.takePending(source.toolName)
    if (!action) return
    const outcome = describeToolResult(action.use, source.text, source.isError)
    const key = action.use.path ?? action.label
    const shown = action.use.kind === 'bash' || action.use.kind === 'other'
    if (shown && action.label !== '') {
      const record = remember(this.actions, action.label, {
        runs: 0,
        failures: 0,
        status: '',
        place,
        weight: weightOf(action),
      })
      record.runs++
      record.status = outcome.exitStatus
      record.place = place
      if (outcome.exitStatus !== 'ok' && outcome.exitStatus !== 'exit 0') record.failures++
    }
    if (!outcome.failed && outcome.exitStatus !== 'failed') {
      for (const error of this.openErrors.get(key) ?? []) error.resolved = true
      this.openErrors.delete(key)
    } else this.addError(source, action, key, place)
  }

  candidates(length: number): Candidate[] {
    const recency = (place: number) => (length <= 1 ? 1 : place / (length - 1))
    const files = [...this.files].map(([path, record]): Candidate => {
      const parts = [times('edited', record.edits), times('viewed', record.views)].filter((part) => part !== '')
      const weight =
        record.edits > 0 ? 4 + Math.min(4, Math.log2(1 + record.edits)) : Math.min(4, Math.log2(1 + record.views))
      const score = weight + 2 * recency(record.place)
      return { section: 'files', text: `${path}: ${parts.join(', ')}`, score, place: record.place, reference: '' }
    })
    const actions = [...this.actions].map(([label, record]): Candidate => {
      const history = record.runs > 1 ? ` (${record.runs} runs, ${record.failures} failed)` : ''
      const score = record.weight + Math.log2(record.runs) + 3 * recency(record.place)
      return {
        section: 'commands',
        text: `${label}: ${record.status}${history}`,
        score,
        place: record.place,
        reference: '',
      }
    })
    const errors = [...this.errors.values()].map((error): Candidate => {
      const often = error.times > 1 ? `, ${error.times} times` : ''
      const text = `${error.line} (${error.label}${often}; ${error.resolved ? 'resolved later' : 'not seen resolved'})`
      const score = 3 + Math.log2(error.times) * 2 + 3 * recency(error.place) + (error.resolved ? 0 : 2)
      return { section: 'errors', text, score, place: error.place, reference: error.reference }
    })
    return [...files, ...actions, ...errors]
  }

  private takePending(toolName: string | null): Action | null {
    const named = this.pending.findIndex((action) => action.name === toolName)
    return this.pending.splice(Math.max(named, 0), 1)[0] ?? null
  }

  private addError(source: SummarySource, action: Action, key: string, place: number): void {
    const line = truncate(oneLine(errorLine(source.text) ?? firstMeaningfulLine(source.text)), 200)
    if (line === '') return
    const label = truncate(action.use.path ?? action.label, 80) || action.name
    const error = remember(this.errors, `${key} ${line}`, {
      line,
      label,
      key,
      times: 0,
      place,
      reference: '',
      resolved: false,
    })
    error.times++
    error.place = place
    error.reference = source.reference
    error.resolved = false
    const open = this.openErrors.get(key) ?? []
    if (open.length < 20) this.openErrors.set(key, [...open, error])
  }
}

/** Beyond this many distinct entries, new ones are of no use to a summary; it keeps memory bounded. */
const ENTRIES_MAX = 5_000

function remember<Entry>(map: Map<string, Entry>, key: string, fresh: Entry): Entry {
  const known = map.get(key)
  if (known) return known
  if (map.size < ENTRIES_MAX) map.set(key, fresh)
  return fresh
}

function times(verb: string, count: number): string {
  return count === 0 ? '' : count === 1 ? verb : `${verb} ${count} times`
}

/** The calls at the end of a text, each `[called name arguments]` on a line of its own; arguments may be cut. */
export function callsIn(text: string): Action[] {
  const start = text.startsWith('[called ') ? 0 : text.indexOf('\n[called ') + 1
  if (start === 0 && !text.startsWith('[called ')) return []
  const actions: Action[] = []
  for (const line of text.slice(start).split('\n')) {
    const called = /^\[called (\S{1,200})(?: (.*))?$/.exec(line)
    if (!called) continue
    const name = called[1]?.replace(/\]$/, '') ?? ''
    const given = (called[2] ?? '').replace(/\]$/, '')
    const use = describeToolCall({ id: name, name, arguments: given })
    actions.push({ name, use, label: labelOf(name, use, given) })
  }
  return actions
}

const LABEL_CHARACTERS_MAX = 140
/** Tools of an agent for itself: they change nothing that anybody will ask about. */
const INWARD = /^(?:todo|task|think|plan|update_plan|exit_?plan|sequentialthinking)/i

function labelOf(name: string, use: ToolUse, given: string): string {
  if (use.kind === 'bash') {
    const command =
      use.command ??
      /"(?:command|cmd)"\s*:\s*"((?:[^"\\]|\\.){0,400})/
        .exec(given)?.[1]
        ?.replaceAll('\\n', ' ')
        .replaceAll('\\"', '"') ??
      ''
    return truncate(oneLine(command), LABEL_CHARACTERS_MAX)
  }
  if (use.kind !== 'other' || INWARD.test(name)) return ''
  const values = [...given.matchAll(/"(\w{1,40})"\s*:\s*(?:"([^"\\]{1,60})|(-?[\d.]{1,20}))/g)].slice(0, 6)
  const words = values.map(([, key, text, number]) => `${key} ${text ?? number}`)
  return truncate(oneLine([name, words.join(', ')].join(' ')), LABEL_CHARACTERS_MAX)
}

/** What changes the world weighs more than what looks at it. */
function weightOf({ name, use, label }: Action): number {
  const changes =
    /(?:^|_)(?:create|update|cancel|book|send|delete|transfer|add|remove|set|pay|modify|exchange|return|submit|commit|push|install|deploy|rm|mv)/i
  const looks =
    /^(?:cd \S+ && )?(?:ls|cat|grep|rg|find|head|tail|sed -n|git (?:status|log|diff|show)|echo|pwd|which|wc)\b/
  if (use.kind === 'bash')
    return looks.test(label) ? 0 : /\b(?:test|build|lint|commit|push|install|deploy|migrate)\b/.test(label) ? 4 : 2
  return changes.test(name) ? 5 : 1
}
