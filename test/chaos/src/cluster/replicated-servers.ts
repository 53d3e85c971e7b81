import type { Host } from './host.js'

/** Servers of which one is the leader, and which replace it by themselves. */
export interface ReplicatedServers {
  /** The host that serves writes; every host must be reachable. */
  leader(): Promise<Host>
  /** Starts the programs of a host that crashed. */
  start(host: Host): void
  /** Resolves once every server runs and follows the leader. @throws Error after `timeoutMs` */
  whenWhole(timeoutMs: number): Promise<void>
}
