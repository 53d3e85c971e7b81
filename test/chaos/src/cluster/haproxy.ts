import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { waitFor } from '@heddle/test-support/wait-for'
import type { Host } from './host.js'
import { PATRONI_PORT, POSTGRES_PORT } from './patroni.js'

export const GATEWAY_PORT = 4680
const STATISTICS_PORT = 8404

export interface HaproxyOptions {
  readonly postgres: readonly Host[]
  readonly gateways: readonly Host[]
}

/** The address of the leader of Patroni, and that of the gateways. */
export async function startHaproxy(host: Host, options: HaproxyOptions): Promise<void> {
  const file = join(host.folder, 'haproxy.cfg')
  await writeFile(file, configurationOf(host.address, options))
  host.start('haproxy', { command: ['haproxy', '-db', '-f', file] })
  await waitFor(() => knowsLeader(host, options.postgres.length), { what: 'HAProxy to know the leader' })
}

/** HAProxy takes every server for a leader until it has checked it twice. */
async function knowsLeader({ address }: Host, servers: number): Promise<boolean> {
  const table = await (await fetch(`http://${address}:${STATISTICS_PORT}/;csv`)).text()
  const others = table.split('\n').filter((line) => /^postgres,postgres\d+,.*,DOWN,/.test(line))
  return others.length === servers - 1
}

/** As docs/operations.md#high-availability recommends. */
function configurationOf(door: string, { postgres, gateways }: HaproxyOptions): string {
  const servers = postgres.map(
    ({ label, address }) => `  server ${label} ${address}:${POSTGRES_PORT} check port ${PATRONI_PORT}`,
  )
  return `${[
    'global',
    '  maxconn 2000',
    'defaults',
    '  timeout connect 2s',
    '  timeout check 1s',
    'listen postgres',
    `  bind *:${POSTGRES_PORT}`,
    '  mode tcp',
    '  timeout client 30m',
    '  timeout server 30m',
    '  option clitcpka',
    '  option srvtcpka',
    '  option httpchk GET /primary',
    '  http-check expect status 200',
    '  default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions',
    ...servers,
    'listen statistics',
    `  bind *:${STATISTICS_PORT}`,
    '  mode http',
    '  timeout client 5s',
    '  timeout server 5s',
    '  stats enable',
    '  stats uri /',
    ...beforeGateways(
      { bind: `*:${GATEWAY_PORT}`, host: door },
      gateways.map(({ label, address }) => ({ label, place: `${address}:${GATEWAY_PORT}` })),
    ),
  ].join('\n')}\n`
}

export interface GatewayServer {
  readonly label: string
  /** Address and port. */
  readonly place: string
}

/** @param host the name by which the gateways are called: they answer only to their own names */
export function beforeGateways(
  { bind, host }: { readonly bind: string; readonly host: string },
  servers: readonly GatewayServer[],
): string[] {
  return [
    'listen gateway',
    `  bind ${bind}`,
    '  mode http',
    '  timeout client 11m',
    '  timeout server 11m',
    '  timeout http-keep-alive 60s',
    '  balance leastconn',
    '  option httpchk',
    `  http-check send meth GET uri /readyz ver HTTP/1.1 hdr Host ${host}`,
    '  option redispatch',
    '  retries 3',
    '  retry-on conn-failure',
    '  default-server inter 1s fall 2 rise 1',
    ...servers.map(({ label, place }) => `  server ${label} ${place} check`),
  ]
}
