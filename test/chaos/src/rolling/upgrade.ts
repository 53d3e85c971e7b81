import { setTimeout as wait } from 'node:timers/promises'
import { stageNames } from '@heddle/contracts'
import type { Crowd } from './crowd.js'
import type { Installation } from './installation.js'
import { type ContextChanges, compareContexts, showAgain, showContexts } from './stored-contexts.js'
import { programOf, type Version } from './versions.js'

export interface UpgradeOptions {
  readonly from: Version
  readonly to: Version
  /** For which both versions work beside each other at each step. */
  readonly pauseMs: number
  /** Whether the gateways are replaced before the workers. */
  readonly gatewaysFirst: boolean
  /** Threads whose contexts are compared. */
  readonly threads: readonly string[]
  readonly say: (line: string) => void
}

export interface Upgraded {
  readonly migrationSeconds: number
  /** From the migration until the last service was replaced. */
  readonly seconds: number
  readonly steps: number
  /** Contexts of the earlier version, as shown after the upgrade. */
  readonly before: ContextChanges
  /** Contexts of either version, as a gateway of each version shows them at the same time. */
  readonly between: ContextChanges
}

/** Upgrades an installation under load in the order of docs/operations.md#upgrade. */
export async function upgrade(
  installation: Installation,
  crowd: Crowd,
  { from, to, pauseMs, gatewaysFirst, threads, say }: UpgradeOptions,
): Promise<Upgraded> {
  const { gateway, gateways, stages } = installation
  const [first, second] = gateways
  if (first === undefined || second === undefined) throw new Error('an upgrade without a pause needs two gateways')
  const readerOf = ({ url }: { readonly url: string }) => ({ url, key: gateway.key })
  const pause = () => wait(pauseMs)
  let steps = 0
  const step = async (what: string, work: () => Promise<void>) => {
    const startedMs = performance.now()
    await work()
    steps++
    say(`${what}: ${((performance.now() - startedMs) / 1_000).toFixed(1)} s`)
    await pause()
  }
  const programIn = (version: Version, service: string) => {
    const script = programOf(version, service)
    if (script === null) throw new Error(`${version.name} has no service ${service}`)
    return script
  }

  const ofBefore = await showContexts(readerOf(first), threads)
  const startedMs = performance.now()
  await step(`${to.name} migrates`, () => installation.migrate(to))
  const migrationSeconds = (performance.now() - startedMs - pauseMs) / 1_000
  // Supervisors restart services of the earlier version meanwhile.
  const [stage, worker] = [...stages].at(-1) ?? []
  if (stage !== undefined && worker !== undefined)
    await step(`${stage} restarts as ${from.name}`, () => worker.roll({ together: pause }))
  await step(`${second.service.label} restarts as ${from.name}`, () => second.service.roll())
  const replaceWorkers = async () => {
    for (const name of stageNames) {
      const service = stages.get(name)
      if (service === undefined) await step(`${name} is new`, () => installation.addStage(name, to))
      else await step(`${name} is replaced`, () => service.roll({ script: programIn(to, name), together: pause }))
    }
  }
  /** @returns the contexts that a gateway of each version shows at the same time */
  const replaceGateways = async () => {
    await step(`${first.service.label} is replaced`, () => first.service.roll({ script: programIn(to, 'gateway') }))
    const shownByEarlier = await showContexts(readerOf(second), threads)
    const changes = compareContexts(shownByEarlier, await showAgain(readerOf(first), shownByEarlier))
    await step(`${second.service.label} is replaced`, () => second.service.roll({ script: programIn(to, 'gateway') }))
    return changes
  }
  if (!gatewaysFirst) await replaceWorkers()
  const between = await replaceGateways()
  if (gatewaysFirst) await replaceWorkers()
  const seconds = (performance.now() - startedMs) / 1_000
  await step('the SDK of the users is replaced', () => crowd.renew(to))
  const before = compareContexts(ofBefore, await showAgain(readerOf(first), ofBefore))
  return { migrationSeconds, seconds, steps, before, between }
}
