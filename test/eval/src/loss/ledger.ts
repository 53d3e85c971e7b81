import { AtomCollector, finish, messageReference, readConversation, summarySources } from '@heddle/core'
import type { Measured } from '@heddle/test-support/figure'
import { toMessage } from '../messages.js'
import { readSessions } from '../sessions.js'
import { replay } from './replay.js'

/** The share of files that a replay wrote or deleted for which the ledger has the same last state. */
export async function measureLedger(dataDir: string): Promise<Measured[]> {
  let [same, all] = [0, 0]
  const wrong: string[] = []
  for (const { messages: given } of await readSessions(dataDir)) {
    const { messages, pairs } = readConversation(given.map(toMessage))
    const { written, deleted } = await replay(messages)
    const collector = new AtomCollector()
    finish(collector.add(summarySources(messages, pairs, ({ code }) => messageReference(code))))
    const states = new Map(
      collector
        .result()
        .of('path')
        .map(({ text, state }) => [text, state]),
    )
    for (const [paths, state] of [
      [written, 'written'],
      [deleted, 'deleted'],
    ] as const) {
      for (const path of paths) {
        all++
        if (states.get(path) === state) same++
        else wrong.push(`${states.get(path) ?? 'missing'} instead of ${state}`)
      }
    }
  }
  const note = `${all} files of the recorded sessions${wrong.length === 0 ? '' : `; ${wrong.slice(0, 5).join(', ')}`}`
  return [{ name: 'ledger.equal', value: all === 0 ? 0 : same / all, unit: 'share', target: '>= 0.99', note }]
}
