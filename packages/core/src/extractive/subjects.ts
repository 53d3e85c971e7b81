import { type Edits, noEdits } from './edits.js'
import { baseName } from './names.js'

/** An object of the work: a file, a command, a call of some other tool. */
export interface Subject {
  readonly kind: 'file' | 'action'
  /** The path or the command. */
  label: string
  readonly edits: Edits
  /** The function in whose lines a name last occurred. */
  readonly scopes: Map<string, string>
  views: number
  runs: number
  failures: number
  /** How the last run ended. */
  status: string
  /** The last line of the latest run's output, if it is informative. */
  outcome: string
  place: number
  reference: string
  /** Its own weight: actions with side effects weigh more than reads. */
  importance: number
}

/** Bounds memory; more subjects do not improve a summary. */
const SUBJECTS_MAX = 5_000
/** Files of the same name that are compared. */
const NAMESAKES_MAX = 20

/** The files and actions of a conversation, each once. */
export class Subjects {
  private readonly known = new Map<string, Subject>()
  private readonly namesakes = new Map<string, Subject[]>()

  of(kind: Subject['kind'], label: string, place: number): Subject {
    const key = `${kind} ${label}`
    const subject = this.known.get(key) ?? (kind === 'file' ? this.file(label) : open(kind, label))
    if (this.known.size < SUBJECTS_MAX) this.known.set(key, subject)
    subject.place = place
    return subject
  }

  all(): Subject[] {
    return [...new Set(this.known.values())]
  }

  /** Tools name one file by absolute and by relative path: the shorter path is then a suffix of the longer one. */
  private file(path: string): Subject {
    const namesakes = this.namesakes.get(baseName(path)) ?? []
    // A bare name means the only known file of this name, if there is exactly one.
    const isBare = !path.includes('/') && namesakes.length === 1
    const same = namesakes.find(({ label }) => isBare || isEndOf(path, label) || isEndOf(label, path))
    if (same) {
      if (path.length > same.label.length) same.label = path
      return same
    }
    const subject = open('file', path)
    if (namesakes.length < NAMESAKES_MAX) this.namesakes.set(baseName(path), [...namesakes, subject])
    return subject
  }
}

function isEndOf(end: string, path: string): boolean {
  return end.includes('/') && !end.startsWith('/') && path.endsWith(`/${end}`)
}

function open(kind: Subject['kind'], label: string): Subject {
  const counts = { views: 0, runs: 0, failures: 0, importance: 0 }
  return {
    kind,
    label,
    ...counts,
    status: '',
    outcome: '',
    place: 0,
    reference: '',
    edits: noEdits(),
    scopes: new Map(),
  }
}
