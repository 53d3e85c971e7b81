import { createHash } from 'node:crypto'
import { type AtomKind, atomKinds } from '@heddle/contracts'
import { AtomCollector, finish, messageReference, readConversation, summarySources } from '@heddle/core'
import type { Measured } from '@heddle/test-support/figure'
import { toMessage } from '../messages.js'
import { readSessions } from '../sessions.js'
import { sampled, wrong } from './labels.js'

/** The share of labelled details that are details of their kind, among those that the rules still find. */
export async function measurePrecision(dataDir: string): Promise<Measured[]> {
  const found = await foundIn(dataDir)
  const labelled = atomKinds.flatMap((kind) => {
    const ids = sampled[kind]?.trim().split(/\s+/) ?? []
    return ids.filter((id) => found.has(id)).map((id) => ({ kind, id }))
  })
  const shares = atomKinds.flatMap((kind) => {
    const own = labelled.filter((one) => one.kind === kind)
    return own.length === 0 ? [] : [`${kind} ${rightIn(own)}/${own.length}`]
  })
  const all = Object.values(sampled).reduce((sum, ids) => sum + ids.trim().split(/\s+/).length, 0)
  return [
    {
      name: 'loss.precision',
      value: rightIn(labelled) / Math.max(1, labelled.length),
      unit: 'share',
      target: '>= 0.9',
      note: `${labelled.length} of ${all} labelled details are found; ${shares.join(', ')}`,
    },
  ]
}

function rightIn(labelled: readonly { readonly id: string }[]): number {
  return labelled.filter(({ id }) => !wrong.has(id)).length
}

async function foundIn(dataDir: string): Promise<ReadonlySet<string>> {
  const ids = new Set<string>()
  for (const { thread, messages: given } of await readSessions(dataDir)) {
    const { messages, pairs } = readConversation(given.map(toMessage))
    const collector = new AtomCollector()
    finish(collector.add(summarySources(messages, pairs, ({ code }) => messageReference(code))))
    const atoms = collector.result()
    for (const kind of atomKinds) for (const { key } of atoms.of(kind)) ids.add(idOf(thread, kind, key))
  }
  return ids
}

function idOf(thread: string, kind: AtomKind, key: string): string {
  return createHash('sha256').update(`${thread} ${kind} ${key}`).digest('hex').slice(0, 12)
}
