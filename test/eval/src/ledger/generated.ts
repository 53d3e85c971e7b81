import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Message } from '@heddle/core'
import { sampleMessage } from '@heddle/test-support/samples/conversations'
import fc from 'fast-check'
import { judge, type Replayed, type ReplayedCommand } from './replay.js'
import type { ReplayedFile } from './scratch.js'

const FOLDERS = ['src', 'src/api', 'lib', 'docs']
const NAMES = ['a.ts', 'b.ts', 'notes.md']
const FILES = FOLDERS.flatMap((folder) => NAMES.map((name) => `${folder}/${name}`))

type Tool = 'Read' | 'Write' | 'Edit' | 'Bash'
/** A call with its arguments, in which `/repo` is the folder of the session. */
interface Step {
  readonly tool: Tool
  readonly given: Readonly<Record<string, string>>
  /** Null for an interrupted call, which does nothing and has no answer. */
  readonly end: 'answered' | 'refused' | null
}

const ROOT = '/repo'
const file = fc.constantFrom(...FILES)
const path = fc.tuple(file, fc.boolean()).map(([name, isAbsolute]) => (isAbsolute ? `${ROOT}/${name}` : name))
const folder = fc.constantFrom(...FOLDERS)
const number = fc.nat(999)

/** Command lines as agents write them, that change files or fail. */
const line = fc.oneof(
  path.map((one) => `rm ${one}`),
  path.map((one) => `rm -f ${one}`),
  folder.map((one) => `rm -r ${one}`),
  folder.map((one) => `mkdir -p ${one}`),
  path.map((one) => `touch ${one}`),
  fc.tuple(path, path).map(([from, to]) => `mv ${from} ${to}`),
  fc.tuple(path, folder).map(([from, to]) => `mv ${from} ${to}/`),
  fc.tuple(path, path, folder).map(([one, other, to]) => `mv ${one} ${other} ${to}/`),
  fc.tuple(path, path).map(([from, to]) => `cp ${from} ${to}`),
  fc.tuple(path, folder).map(([from, to]) => `mkdir -p ${to} && cp ${from} ${to}/`),
  fc.tuple(path, number).map(([to, text]) => `echo ${text} > ${to}`),
  fc.tuple(path, number).map(([to, text]) => `echo ${text} >> ${to}`),
  fc.tuple(path, number).map(([to, text]) => `cat > ${to} <<'EOF'\n${text}\nit's the second line\nEOF`),
  fc.tuple(path, number).map(([to, text]) => `printf 'x ${text}\\n' | tee ${to}`),
  fc.tuple(path, number).map(([to, text]) => `sed -i 's/line/line ${text}/' ${to}`),
  fc
    .tuple(path, path, number)
    .map(([one, other, text]) => `for f in ${one} ${other}; do sed -i 's/line/${text}/' "$f"; done`),
  fc.tuple(folder, number).map(([to, text]) => `cd ${to} && echo ${text} > a.ts`),
  fc.tuple(folder, fc.constantFrom(...NAMES)).map(([from, name]) => `(cd ${from} && rm ${name})`),
  fc.tuple(path, path).map(([one, other]) => `rm ${one} && rm ${other}`),
  fc.tuple(path, path).map(([one, other]) => `rm ${one}; rm ${other}`),
  path.map((one) => `rm ${one}; echo done`),
  path.map((one) => `rm ${one} || true`),
  fc.tuple(path, number).map(([to, text]) => `echo ${text} > ${to} && test -f missing.txt`),
  path.map((one) => `test -f missing.txt && rm ${one}`),
  path.map((one) => `[ -f ${one} ] && rm ${one}`),
  path.map((one) => `test -d src || rm ${one}`),
  fc.tuple(path, path).map(([from, to]) => `mv ${from} ${to} && test -f missing.txt`),
  path.map((one) => `cat ${one}`),
  path.map((one) => `head -n 1 ${one}`),
  path.map((one) => `grep -n line ${one}`),
  fc.constantFrom(
    'npm test',
    'npm run lint',
    'true',
    'false',
    'ls src',
    'test -f src/a.ts',
    'sh -c "echo broken; exit 3"',
  ),
)

const body = fc.tuple(number, fc.nat(4)).map(([text, more]) => `line ${text}\n${'line\n'.repeat(more)}`)
const end = fc.constantFrom<Step['end']>('answered', 'answered', 'answered', 'answered', 'answered', 'refused', null)
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ tool: fc.constant('Read' as const), given: fc.record({ file_path: path }), end }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      tool: fc.constant('Write' as const),
      given: fc.record({ file_path: path, content: body }),
      end,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      tool: fc.constant('Edit' as const),
      given: fc.record({
        file_path: path,
        old_string: fc.constant('line'),
        new_string: number.map((text) => `line ${text}\nanother line`),
      }),
      end,
    }),
  },
  {
    weight: 10,
    arbitrary: fc.record({ tool: fc.constant('Bash' as const), given: fc.record({ command: line }), end }),
  },
)

/** A session whose calls were made on a real folder by a real shell, and the files that it then has. */
export interface Generated {
  readonly messages: readonly Message[]
  readonly replayed: Replayed
}

const STEPS_MAX = 40

/** The same sessions for the same seed. */
export function generatedSessions(count: number, seed: number): Generated[] {
  const steps = fc.array(step, { minLength: 10, maxLength: STEPS_MAX, size: 'max' })
  return fc.sample(steps, { seed, numRuns: count }).map(perform)
}

function perform(steps: readonly Step[]): Generated {
  const root = mkdtempSync(join(tmpdir(), 'heddle-session-'))
  try {
    const world = new World(root)
    const messages: Message[] = []
    const commands: ReplayedCommand[] = []
    for (const [index, { tool, given, end: ending }] of steps.entries()) {
      const call = { id: `call-${index}`, name: tool, arguments: given }
      const asked = sampleMessage({ seq: messages.length + 1, role: 'assistant', content: '', toolCalls: [call] })
      messages.push(asked)
      if (ending === null) continue
      const { isError, content } = ending === 'refused' ? REFUSED : world.perform(tool, given, index)
      const answer = { role: 'tool_result' as const, toolCallId: call.id, toolName: tool, isError, content }
      messages.push(sampleMessage({ seq: messages.length + 1, ...answer }))
      if (tool !== 'Bash') continue
      const line = given['command'] ?? ''
      const hasPassed = ending === 'answered' ? judge(line, isError ? 'failed' : 'passed', content) : false
      commands.push({ line, hasPassed, code: asked.code, at: index })
    }
    return {
      messages,
      replayed: { files: world.files(), paths: world.paths(), doubted: world.doubted, commands, unread: 0 },
    }
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

const REFUSED = {
  isError: true,
  content: "The user doesn't want to proceed with this tool use. The tool use was rejected.",
}

/** Tests and the linter of the session: they pass if there is a certain file. */
const CHECKER = 'npm() { test -f src/api/b.ts; }\n'

/** A real folder; the state of its files is that of the disk, before and after each call. */
class World {
  readonly #states = new Map<string, ReplayedFile['state']>()
  readonly #changedAt = new Map<string, number>()
  /** Files that only `touch` named, and that were there: no call says so. */
  readonly doubted = new Set<string>()

  constructor(private readonly root: string) {
    for (const name of FILES.filter((_, index) => index % 2 === 0)) {
      mkdirSync(dirname(join(root, name)), { recursive: true })
      writeFileSync(join(root, name), `line of ${name}\nline\n`)
    }
  }

  perform(tool: Tool, given: Step['given'], at: number): { readonly isError: boolean; readonly content: string } {
    const before = this.#snapshot()
    const done = tool === 'Bash' ? this.#run(given['command'] ?? '') : this.#use(tool, given)
    const after = this.#snapshot()
    const isMove = /\bmv /.test(given['command'] ?? '')
    for (const [name, print] of after) {
      if (before.get(name) === print) continue
      this.#states.set(name, 'written')
      this.#changedAt.set(name, at)
    }
    for (const name of before.keys()) {
      // Of a folder that is removed, the calls name only some of the files.
      const isNamed = this.#states.has(name) || (given['command'] ?? '').includes(name.slice(name.lastIndexOf('/') + 1))
      if (!after.has(name) && isNamed) this.#states.set(name, isMove ? 'moved' : 'deleted')
    }
    if (!done.isError) this.#noteView(tool, given)
    const touched = /^touch (\S+)/.exec(given['command'] ?? '')?.[1]?.replace(`${ROOT}/`, '')
    if (touched !== undefined && !this.#states.has(touched)) this.doubted.add(touched)
    return done
  }

  paths(): string[] {
    return readdirSync(this.root, { recursive: true, encoding: 'utf8' }).map((name) => `${ROOT}/${name}`)
  }

  files(): ReplayedFile[] {
    return [...this.#states]
      .filter(([name]) => !this.doubted.has(name))
      .map(([name, state]) => {
        const place = join(this.root, name)
        return {
          path: `${ROOT}/${name}`,
          state,
          lines: existsSync(place) ? readFileSync(place, 'utf8').split('\n').length - 1 : null,
          at: this.#changedAt.get(name) ?? 0,
        }
      })
  }

  #noteView(tool: Tool, given: Step['given']): void {
    const viewed = tool === 'Read' ? given['file_path'] : /^(?:cat|head -n 1) (\S+)$/.exec(given['command'] ?? '')?.[1]
    const name = viewed?.replace(`${ROOT}/`, '')
    if (name !== undefined && !this.#states.has(name)) this.#states.set(name, 'read')
  }

  #use(tool: Tool, given: Step['given']): { readonly isError: boolean; readonly content: string } {
    const place = join(this.root, (given['file_path'] ?? '').replace(`${ROOT}/`, ''))
    if (tool === 'Write') {
      mkdirSync(dirname(place), { recursive: true })
      writeFileSync(place, given['content'] ?? '')
      return { isError: false, content: 'File created successfully' }
    }
    if (!existsSync(place)) return { isError: true, content: '<tool_use_error>File does not exist.</tool_use_error>' }
    const text = readFileSync(place, 'utf8')
    if (tool === 'Read') {
      const lines = text.split('\n').slice(0, -1)
      return { isError: false, content: lines.map((each, index) => `${index + 1}\t${each}`).join('\n') }
    }
    const from = given['old_string'] ?? ''
    if (!text.includes(from))
      return { isError: true, content: '<tool_use_error>String to replace not found in file.</tool_use_error>' }
    writeFileSync(
      place,
      text.replace(from, () => given['new_string'] ?? ''),
    )
    return { isError: false, content: 'The file has been updated.' }
  }

  #run(command: string): { readonly isError: boolean; readonly content: string } {
    const own = command.replaceAll(ROOT, this.root)
    const shown = (text: string) => text.replaceAll(this.root, ROOT).trimEnd()
    try {
      const script = `${CHECKER}{ ${own}\n} 2>&1`
      const output = execFileSync('bash', ['--norc', '-c', script], { cwd: this.root, encoding: 'utf8' })
      return { isError: false, content: shown(output) }
    } catch (error) {
      const { status, stdout } = error as { readonly status?: number; readonly stdout?: string }
      if (typeof status !== 'number') throw error
      return { isError: true, content: shown(`Exit code ${status}\n${stdout ?? ''}`) }
    }
  }

  /** A write gives a file another inode, another content, or both. */
  #snapshot(): Map<string, string> {
    const entries = readdirSync(this.root, { recursive: true, encoding: 'utf8' })
    return new Map(
      entries.flatMap((name) => {
        const place = join(this.root, name)
        const status = statSync(place)
        const print = () => createHash('sha256').update(readFileSync(place)).digest('hex')
        return status.isFile() ? [[name, `${status.ino} ${print()}`] as const] : []
      }),
    )
  }
}
