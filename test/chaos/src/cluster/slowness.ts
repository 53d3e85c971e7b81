import type { Host } from './host.js'

/**
 * How a kernel slows a network down. `netem` delays and drops packets. Without that module, `queue` limits the bandwidth, so that
 * packets wait in a queue, and the firewall drops some of them.
 */
export type Slowness = 'netem' | 'queue'

const LOSS = 0.01
const NETEM = ['netem', 'delay', '20ms', '10ms', 'loss', `${LOSS * 100}%`]
const QUEUE = ['tbf', 'rate', '6mbit', 'burst', '8kb', 'latency', '80ms']
const DROP = [
  'OUTPUT',
  '-o',
  'eth0',
  '-m',
  'statistic',
  '--mode',
  'random',
  '--probability',
  String(LOSS),
  '-j',
  'DROP',
]

/** Slows down, and loses, what a host sends. */
export async function slowNetwork(host: Host, slowness: Slowness): Promise<void> {
  const discipline = slowness === 'netem' ? NETEM : QUEUE
  await host.inNetwork('tc', 'qdisc', 'replace', 'dev', 'eth0', 'root', ...discipline)
  if (slowness === 'queue') await host.inNetwork('iptables', '--append', ...DROP)
}

export async function restoreNetwork(host: Host, slowness: Slowness): Promise<void> {
  await host.inNetwork('tc', 'qdisc', 'delete', 'dev', 'eth0', 'root')
  if (slowness === 'queue') await host.inNetwork('iptables', '--delete', ...DROP)
}
