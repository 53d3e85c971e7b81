import type { ItemKey } from '@heddle/contracts'
import { oneLine, safeText } from '../../output/safe-text.js'

/** The client returns at most this many names; a list of this length may be incomplete. */
const NAMES_MAX = 20
const NAMES_SHOWN = 3

/**
 * Names the threads that started before an item was added, and the command that adds it to them. Otherwise people would wait
 * for a rule to take effect in a thread that never receives it.
 */
export function withoutLines(
  threads: readonly string[],
  { type, name, serverName }: ItemKey,
  what: 'it' | 'all of them' = 'it',
): string[] {
  const [newest] = threads
  if (newest === undefined) return []
  const count = threads.length
  const shown = threads.slice(0, NAMES_SHOWN).map((thread) => oneLine(thread, 60))
  const left = count - shown.length
  const named = `${shown.join(', ')}${left === 0 ? '' : `, and ${count < NAMES_MAX ? left : `at least ${left}`} more`}`
  const server = serverName === undefined ? '' : ` --server ${shellQuoted(serverName)}`
  const begun = count === 1 ? 'a thread that began before does' : 'threads that began before do'
  return [
    `note: ${begun} not have ${what} until ${what === 'it' ? 'it is' : 'they are'} added: ${named}`,
    `      heddle items set ${type} ${shellQuoted(name)}${server} --thread ${shellQuoted(newest)}`,
  ]
}

/** Quotes a text for a shell. */
function shellQuoted(text: string): string {
  const safe = safeText(text)
  return /^[\w@%+=:,./-]+$/.test(safe) ? safe : `'${safe.replaceAll("'", "'\\''")}'`
}
