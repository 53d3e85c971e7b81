import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { StageName } from '@heddle/contracts'
import { startTestPostgres } from '@heddle/test-support/servers/test-postgres'
import type { Figure } from '../figures.js'
import { type Call, type ProbedProcess, startProbed } from './processes.js'

export const walkNames = ['append', 'context'] as const
export type WalkName = (typeof walkNames)[number]

/** The stages that a request needs, each in a process of its own; what others do because of it is no part of the walk. */
const stages: Readonly<Record<WalkName, readonly StageName[]>> = { append: ['ingest'], context: ['ingest', 'assemble'] }
/** The request is repeated this often before the recorded one: modules are loaded and caches filled. */
const WARM_UP_REQUESTS = 3
/** Effects of earlier requests, such as waking other stages, have ended after this time. */
const SETTLE_MS = 4_000
/** Functions that run during this time without a request belong to upkeep. */
const REST_MS = 8_000

interface Step extends Call {
  readonly process: string
}

/**
 * The source files of a checkout that one request passes, in the order of their first call: `append` is a message from
 * `POST /v1/threads/:thread/messages` to its stored row, `context` is one from the client over HTTP to its delivery. The
 * checkout has to be built. Gateway and workers are processes of their own, on Postgres alone; calls in other threads of a
 * worker, which serve large jobs, are not seen.
 */
export async function* walk(root: string, name: WalkName): AsyncGenerator<Figure> {
  const postgres = await startTestPostgres()
  const processes: ProbedProcess[] = []
  try {
    const environment = {
      DATABASE_URL: postgres.url,
      HEDDLE_MODE: 'postgres',
      HEDDLE_PORT: '0',
      HEDDLE_EMBEDDER: 'hashing',
    }
    const cli = join(root, 'packages/cli/bin/heddle.js')
    execFileSync(process.execPath, [cli, 'migrate'], {
      env: { PATH: process.env['PATH'], ...environment },
      stdio: 'ignore',
    })
    const gatewayScript = join(root, 'services/gateway/dist/main.js')
    const gateway = startProbed({ name: 'gateway', root, script: gatewayScript, environment })
    const workers = stages[name].map((stage) =>
      startProbed({ name: stage, root, script: cli, parameters: ['worker', stage], environment }),
    )
    processes.push(gateway, ...workers)
    const [{ port }] = await Promise.all([gateway.logged('ready'), ...workers.map((worker) => worker.logged('ready'))])
    const url = `http://127.0.0.1:${port}`
    const request = name === 'append' ? () => append(url) : await contextRequest(root, url, processes)
    for (let count = 0; count < WARM_UP_REQUESTS; count++) {
      await append(url)
      await request()
    }
    await pause(SETTLE_MS)
    const rest = await record(processes, () => pause(REST_MS, Number.POSITIVE_INFINITY))
    yield* report(root, name, await record(processes, request), rest)
  } finally {
    for (const probed of processes.toReversed()) await probed.stop()
    await postgres.stop()
  }
}

/** The calls until the moment that the work resolves to, in the order of their time. */
async function record(processes: readonly ProbedProcess[], work: () => Promise<number>): Promise<readonly Step[]> {
  for (const probed of processes) probed.send('begin')
  const untilMs = await work()
  const steps = await Promise.all(
    processes.map(async (probed) => (await probed.end()).map((call) => ({ ...call, process: probed.name }))),
  )
  return steps
    .flat()
    .filter(({ atMs }) => atMs <= untilMs)
    .toSorted((one, other) => one.atMs - other.atMs)
}

/** @returns when the answer came, which the gateway sends once the message is stored */
async function append(url: string): Promise<number> {
  const message = { id: randomUUID(), role: 'user', content: 'The login fails since the update of last night.' }
  const response = await fetch(`${url}/v1/threads/walk/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ agent: 'walker', messages: [message] }),
  })
  const atMs = performance.timeOrigin + performance.now()
  if (!response.ok) throw new Error(`the append was refused: ${await response.text()}`)
  return atMs
}

async function contextRequest(root: string, url: string, processes: ProbedProcess[]): Promise<() => Promise<number>> {
  const script = fileURLToPath(new URL('./caller.mjs', import.meta.url))
  const caller = startProbed({ name: 'caller', root, script, environment: { HEDDLE_WALK_URL: url } })
  processes.unshift(caller)
  await caller.received('isReady')
  return async () => {
    const answer = caller.received('delivered')
    caller.send('build')
    return Number((await answer)['atMs'])
  }
}

function* report(root: string, name: WalkName, steps: readonly Step[], rest: readonly Step[]): Generator<Figure> {
  const upkeep = new Set(rest.map(({ place, name }) => `${place}#${name}`))
  const files = new Map<string, { first: Step; functions: number; isUpkeepAlone: boolean }>()
  for (const step of steps) {
    const path = sourceOf(root, step.place)
    const known = files.get(path)
    const isUpkeep = upkeep.has(`${step.place}#${step.name}`)
    files.set(path, {
      first: known?.first ?? step,
      functions: (known?.functions ?? 0) + 1,
      isUpkeepAlone: (known?.isUpkeepAlone ?? true) && isUpkeep,
    })
  }
  const counted = [...files.values()].filter(({ isUpkeepAlone }) => !isUpkeepAlone)
  yield { figure: 'walk', of: name, files: counted.length, withUpkeep: files.size, functions: steps.length }
  const areas = new Map<string, number>()
  for (const [path, { isUpkeepAlone }] of files) {
    const area = path.split('/').slice(0, 2).join('/')
    if (!isUpkeepAlone) areas.set(area, (areas.get(area) ?? 0) + 1)
  }
  for (const [area, count] of areas) yield { figure: 'walk by area', of: name, area, files: count }
  const [start] = steps
  for (const [path, { first, functions, isUpkeepAlone }] of files) {
    const afterMs = Math.round((first.atMs - (start?.atMs ?? 0)) * 10) / 10
    yield { figure: 'step', path, process: first.process, first: first.name, functions, afterMs, isUpkeepAlone }
  }
}

/** The source that a built file was made of. */
function sourceOf(root: string, place: string): string {
  const source = place.replace('/dist/', '/src/').replace(/\.js$/, '.ts')
  return existsSync(join(root, source)) ? source : source.replace('/src/', '/')
}
