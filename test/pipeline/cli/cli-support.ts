import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { readRecordedSession, runCli } from '@heddle/cli'
import { afterEachFile, migratedDatabase, QUEUE_PREFIX } from '@heddle/test-support'
import { expect } from 'vitest'

/** The executable of users; it runs the output of `npm run build`. */
const EXECUTABLE = fileURLToPath(new URL('../../../packages/cli/bin/heddle.js', import.meta.url))
const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const BUILT = fileURLToPath(new URL('../../../packages/cli/dist/main.js', import.meta.url))

export interface Ran {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
  /** The one document on standard output. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read it like a program in any language.
  readonly document: any
  /** The one error object on standard error. */
  readonly error: { code: string; detail: string; field?: string; received?: string; hint: string }
}

export interface Running {
  readonly pid: number
  /** Resolves with its output once that holds a whole line. */
  readonly firstLine: Promise<string>
  /** Resolves with the first whole line of its output that contains a text, or fails if it ends without one. */
  lineWith(text: string): Promise<string>
  readonly ended: Promise<Ran>
  kill(signal: NodeJS.Signals): void
}

/** The empty folder of a user, in which `heddle` runs. It is removed at the end of the test file. */
export interface Home {
  readonly dir: string
  path(name: string): string
  /** Runs a command line to its end, in this process, because a new process takes most of a second to start. */
  heddle(...argv: string[]): Promise<Ran>
  /** Runs a command line in a separate process, which can be killed, joined and queried; `input` is piped into it. */
  start(argv: readonly string[], input?: string): Running
  /** The same by `npx heddle`: the process is that of npx. */
  startByNpx(argv: readonly string[]): Running
  /** The same folder for a user with additional or other variables. */
  under(environment: Readonly<Record<string, string>>): Home
}

/** A user whose `DATABASE_URL` names a migrated database. */
export interface DatabaseHome extends Home {
  readonly databaseUrl: string
}

/** Their names end with the id of the process that created them. */
const FOLDERS = 'heddle-cli-'
const folders: string[] = []
let sweeping: Promise<void> | undefined

/** Removes leftovers of test processes that were killed. */
async function sweep(): Promise<void> {
  const names = (await readdir(tmpdir())).filter((name) => name.startsWith(FOLDERS))
  const isLeft = (name: string) => !isAlive(Number(/^\d+(?=-)/.exec(name.slice(FOLDERS.length))?.[0] ?? process.pid))
  await Promise.all(
    names.filter(isLeft).map((name) => rm(join(tmpdir(), name), { recursive: true, force: true, maxRetries: 5 })),
  )
}

const databases: { drop(): Promise<void> }[] = []
const running = new Set<ChildProcess>()

export async function openHome(environment: Readonly<Record<string, string>> = {}): Promise<Home> {
  if (!existsSync(BUILT)) throw new Error(`${BUILT} is missing: npm run build`)
  sweeping ??= sweep()
  await sweeping
  const dir = await mkdtemp(join(tmpdir(), `${FOLDERS}${process.pid}-`))
  // Started by root, Postgres runs as another user, which must be able to pass through this folder.
  await chmod(dir, 0o711)
  folders.push(dir)
  return homeIn(dir, environment)
}

/** A folder and a database of a user, for commands that do not depend on who starts the server. */
export async function openDatabaseHome(environment: Readonly<Record<string, string>> = {}): Promise<DatabaseHome> {
  const database = await migratedDatabase()
  databases.push(database)
  const { url } = database
  const home = await openHome({ DATABASE_URL: url, HEDDLE_QUEUE_PREFIX: QUEUE_PREFIX, ...environment })
  return { ...home, databaseUrl: url }
}

/** A home with a recorded session of at least 200 messages, which is longer than the budget of its settings. */
export async function openOutgrownHome(): Promise<{ readonly home: DatabaseHome; readonly messages: number }> {
  const home = await openDatabaseHome()
  await writeFile(home.path('heddle.yaml'), 'settings:\n  budget: 16000\n')
  await writeFile(home.path('session.jsonl'), await readRecordedSession())
  const { document } = await home.heddle('import', 'session.jsonl', '--agent', 'coder', '--json')
  expect(document).toMatchObject({ settled: true })
  expect(document.stored).toBeGreaterThanOrEqual(200)
  return { home, messages: document.stored }
}

function homeIn(dir: string, environment: Readonly<Record<string, string>>): Home {
  return {
    dir,
    path: (name) => join(dir, name),
    heddle: (...argv) => runHere(dir, argv, environmentIn(dir, environment)),
    start: (argv, input) =>
      spawnHeddle(process.execPath, [EXECUTABLE, ...argv], dir, environmentIn(dir, environment), input),
    startByNpx: (argv) => spawnHeddle('npx', ['--no', 'heddle', ...argv], ROOT, environmentIn(dir, environment)),
    under: (more) => homeIn(dir, { ...environment, ...more }),
  }
}

/** No variable of the tests: no address of a server, no setting. */
function environmentIn(home: string, env: Readonly<Record<string, string>>): Record<string, string | undefined> {
  return { PATH: process.env['PATH'], HOME: home, TMPDIR: tmpdir(), HEDDLE_EMBEDDER: 'hashing', ...env }
}

async function runHere(
  cwd: string,
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<Ran> {
  const stdout = new WrittenText()
  const stderr = new WrittenText()
  const code = await runCli(argv, { stdout, stderr, env, cwd })
  return ranWith({ code, signal: null, stdout: stdout.text, stderr: stderr.text })
}

/** A stream that is not a terminal and records its output. */
class WrittenText extends Writable {
  text = ''

  override _write(part: Buffer, _encoding: string, written: () => void): void {
    this.text += part.toString()
    written()
  }
}

function ranWith(ran: Pick<Ran, 'code' | 'signal' | 'stdout' | 'stderr'>): Ran {
  return {
    ...ran,
    get document() {
      return JSON.parse(ran.stdout)
    },
    get error() {
      return JSON.parse(ran.stderr).error
    },
  }
}

function spawnHeddle(
  program: string,
  argv: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string | undefined>>,
  input = '',
): Running {
  const child = spawn(program, argv, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] })
  // A command that ends without reading its input is not a fault.
  child.stdin.on('error', () => undefined).end(input)
  running.add(child)
  let [stdout, stderr] = ['', '']
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    stderr += part
  })
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    stdout += part
  })
  const lineWith = (text: string) =>
    new Promise<string>((resolve, reject) => {
      const find = () => {
        const line = stdout
          .slice(0, stdout.lastIndexOf('\n') + 1)
          .split('\n')
          .slice(0, -1)
          .find((each) => each.includes(text))
        if (line !== undefined) resolve(line)
      }
      find()
      child.stdout.on('data', find)
      child.once('close', (code) =>
        reject(new Error(`${program} ${argv.join(' ')} ended with ${code}:\n${stdout}\n${stderr}`)),
      )
    })
  const firstLine = lineWith('')
  firstLine.catch(() => undefined)
  const ended = new Promise<Ran>((resolve) => {
    child.once('close', (code, signal) => {
      running.delete(child)
      resolve(ranWith({ code, signal, stdout, stderr }))
    })
  })
  return { pid: child.pid ?? 0, firstLine, lineWith, ended, kill: (signal) => void child.kill(signal) }
}

/** Whether a process lives. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

afterEachFile(async () => {
  const ended = [...running].map((child) => new Promise<void>((resolve) => child.once('close', () => resolve())))
  for (const child of running) child.kill('SIGKILL')
  await Promise.all(ended)
  await Promise.all(databases.splice(0).map((database) => database.drop()))
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true, force: true, maxRetries: 5 })))
})
