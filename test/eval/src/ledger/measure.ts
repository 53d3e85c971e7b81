import { extendLedger, finish, type Ledger, type Message, readConversation } from '@heddle/core'
import type { Measured } from '@heddle/test-support/figure'
import { toMessage } from '../messages.js'
import { readSessions } from '../sessions.js'
import { type Compared, compare } from './compare.js'
import { generatedSessions } from './generated.js'
import { isReplayable, type Replayed, replay } from './replay.js'

const TARGET = '>= 0.99'
const GENERATED = 100
const SEED = 27
/** Differences named in a note. */
const SHOWN_MAX = 5

/** The ledger of each session beside a replay of its calls, and that of generated sessions beside the files that they left. */
export async function measureLedger(dataDir: string): Promise<Measured[]> {
  const threads = (await readSessions(dataDir)).map(({ thread, messages }) => ({
    thread,
    messages: messages.map(toMessage),
  }))
  const recorded = threads
    .filter(({ messages }) => isReplayable(messages))
    .map(({ thread, messages }) => {
      const replayed = replay(messages)
      return { thread, replayed, compared: compare(ledgerOf(messages), replayed) }
    })
  const lowest = recorded.toSorted((left, right) => shareOf(left.compared) - shareOf(right.compared))[0]
  return [
    ...recorded.map(({ thread, replayed, compared }) => ({
      name: `ledger.session.${thread}`,
      value: shareOf(compared),
      unit: 'share',
      target: TARGET,
      note: noteOf(compared, replayed),
    })),
    {
      name: 'ledger.equal',
      value: lowest === undefined ? 0 : shareOf(lowest.compared),
      unit: 'share',
      target: TARGET,
      note: `the lowest of ${recorded.length} recorded sessions`,
    },
    measureGenerated(),
  ]
}

function measureGenerated(): Measured {
  const compared = generatedSessions(GENERATED, SEED).map(({ messages, replayed }) =>
    compare(ledgerOf(messages), replayed),
  )
  const all: Compared = {
    same: compared.reduce((sum, { same }) => sum + same, 0),
    all: compared.reduce((sum, one) => sum + one.all, 0),
    differences: compared.flatMap(({ differences }, index) => differences.map((each) => `${index} ${each}`)),
  }
  const note = `${GENERATED} sessions that a shell ran; ${differencesOf(all)}`
  return { name: 'ledger.generated', value: shareOf(all), unit: 'share', target: TARGET, note }
}

function ledgerOf(given: readonly Message[]): Ledger {
  const conversation = readConversation(given)
  const last = conversation.messages.at(-1)
  if (last === undefined) throw new Error('a session without messages')
  const { orderedAtMs, ordinal, id } = last
  return finish(extendLedger(null, { conversation, after: null, to: { orderedAtMs, ordinal, id }, tools: [] }))
}

function shareOf({ same, all }: Compared): number {
  return all === 0 ? 1 : same / all
}

function noteOf(compared: Compared, { files, doubted, commands, unread }: Replayed): string {
  const counts = `${files.length} files, ${commands.length} commands, ${compared.all} facts`
  const left = `${doubted.size} files in doubt, ${unread} lines unread`
  return `${counts}; ${left}; ${differencesOf(compared)}`
}

function differencesOf({ differences }: Compared): string {
  const shown = differences.slice(0, SHOWN_MAX).join('; ')
  return differences.length === 0 ? 'no difference' : `${differences.length} differ: ${shown}`
}
