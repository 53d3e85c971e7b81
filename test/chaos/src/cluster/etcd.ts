import { waitFor } from '@heddle/test-support/wait-for'
import type { Host } from './host.js'

const CLIENT_PORT = 2379
const PEER_PORT = 2380
const READY_MS_MAX = 60_000

/** The consensus store of Patroni. @returns the addresses for clients, once a leader is elected */
export async function startEtcd(hosts: readonly Host[]): Promise<string[]> {
  const cluster = hosts.map(({ label, address }) => `${label}=http://${address}:${PEER_PORT}`).join(',')
  for (const host of hosts) {
    const clients = `http://${host.address}:${CLIENT_PORT}`
    const peers = `http://${host.address}:${PEER_PORT}`
    host.start('etcd', {
      command: [
        'etcd',
        ...['--name', host.label, '--data-dir', `${host.folder}/data`],
        ...['--listen-client-urls', clients, '--advertise-client-urls', clients],
        ...['--listen-peer-urls', peers, '--initial-advertise-peer-urls', peers],
        ...['--initial-cluster', cluster, '--initial-cluster-state', 'new'],
        // A machine that all of these hosts share does not always write within the usual 100 ms.
        ...['--heartbeat-interval', '250', '--election-timeout', '2500'],
      ],
    })
  }
  const addresses = hosts.map(({ address }) => `${address}:${CLIENT_PORT}`)
  await Promise.all(
    addresses.map((address) =>
      waitFor(async () => (await fetch(`http://${address}/health`)).ok, {
        what: `etcd at ${address}`,
        timeoutMs: READY_MS_MAX,
      }),
    ),
  )
  return addresses
}
