import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { waitFor } from '@heddle/test-support/wait-for'
import { beforeGateways, type GatewayServer } from '../cluster/haproxy.js'
import { isListening } from '../cluster/is-listening.js'
import type { LocalHost } from './local-host.js'

const LOG = 'haproxy'
/** A request in the log: its mark and time, the status, how its session ended, method, path and gateway. */
const LINE = /^request \d+ (\d+|-1) (\S+) (\S+) (\S+) \S+\/(\S+)$/

/** Starts HAProxy before the gateways, as docs/operations.md#high-availability recommends, with a log of all requests. */
export async function startDoor(host: LocalHost, port: number, gateways: readonly GatewayServer[]): Promise<void> {
  const file = join(host.folder, 'haproxy.cfg')
  const lines = [
    'global',
    '  maxconn 2000',
    '  log stdout format raw daemon',
    'defaults',
    '  timeout connect 2s',
    '  timeout check 1s',
    ...beforeGateways({ bind: `${host.address}:${port}`, host: host.address }, gateways),
    '  log global',
    // Connections without a request, such as the one that finds that it listens.
    '  option dontlognull',
    '  log-format "request %Ts %ST %ts %HM %HPO %b/%s"',
  ]
  await writeFile(file, `${lines.join('\n')}\n`)
  host.start(LOG, { command: ['haproxy', '-db', '-f', file] })
  await waitFor(() => isListening(host.address, port), { what: 'HAProxy' })
}

export interface DoorLog {
  /** Requests, repetitions of the SDK included. */
  readonly requests: number
  /** Requests that the gateways did not answer, or refused, counted by kind: status, end of the session, method and route. */
  readonly failures: ReadonlyMap<string, number>
}

export async function readDoorLog(host: LocalHost): Promise<DoorLog> {
  return countRequests(await readFile(host.logOf(LOG), 'utf8'))
}

const STATUS_OF_FAILURES = 400

export function countRequests(log: string): DoorLog {
  const failures = new Map<string, number>()
  let requests = 0
  for (const line of log.split('\n')) {
    const [, status = '', end = '', method = '', path = '', gateway = ''] = LINE.exec(line) ?? []
    if (status === '') continue
    requests++
    const isAnswered = Number(status) > 0 && Number(status) < STATUS_OF_FAILURES && end === '--'
    if (isAnswered) continue
    const kind = `${status} ${end} ${method} ${routeOf(path)} at ${gateway}`
    failures.set(kind, (failures.get(kind) ?? 0) + 1)
  }
  return { requests, failures }
}

/** Without the names of threads and the ids of contexts. */
function routeOf(path: string): string {
  return path.replace(/^(\/v1\/\w+)\/[^/]+/, '$1/…')
}
