import { shortCode } from '@heddle/core'
import type { Tx } from '../connection/connection.js'
import type { NamedAppend, PlannedMessage } from '../messages/append-plan.js'
import { asArray } from '../sql/arrays.js'
import { AFTER_ALL_LETTERS, byId, givenIds } from '../sql/by-id.js'
import { loadSharedRuns, messageOf, messagesOf } from './lineage.js'

/*
 * Ids and short codes are unique in a thread, which indexes ensure for its own rows. A fork compares those of new messages with the
 * ones that it shares as well.
 */

interface KnownMessage {
  readonly threadId: string
  readonly id: string
  readonly fingerprint: string
}

/** Those of a batch's messages that its forks share already; nothing is read for a batch without forks. */
export async function findShared(
  tx: Tx,
  appends: readonly NamedAppend[],
  forks: ReadonlySet<string>,
): Promise<readonly KnownMessage[]> {
  const found: KnownMessage[] = []
  for (const threadId of forks) {
    await loadSharedRuns(tx, threadId)
    const ids = appends.flatMap((append) =>
      append.threadId === threadId ? append.messages.map(({ input }) => input.id) : [],
    )
    const rows = await tx<{ id: string; fingerprint: string }[]>`
      select found.id, encode(found.fingerprint, 'hex') as fingerprint
      from ${givenIds(tx, ids)}
      cross join lateral (
        select id, fingerprint from ${messageOf(tx, threadId)} as messages
        where ${byId(tx, tx`messages`)}) as found`
    found.push(...rows.map((row) => ({ threadId, ...row })))
  }
  return found
}

/** Divides new messages into those whose short code is free, and those of forks whose code is that of a shared message. */
export async function divideByCode(
  tx: Tx,
  messages: readonly PlannedMessage[],
  forks: ReadonlySet<string>,
): Promise<{ readonly free: readonly PlannedMessage[]; readonly taken: readonly PlannedMessage[] }> {
  if (forks.size === 0) return { free: messages, taken: [] }
  const isTaken = new Set<PlannedMessage>()
  for (const threadId of forks) {
    const byCode = new Map<string, PlannedMessage>()
    for (const planned of messages) {
      if (planned.threadId === threadId) byCode.set(shortCode(planned.message.input.id), planned)
    }
    const codes = [...byCode.keys()]
    // Under row-level security only a bound that cannot fail is looked up in the index, so it comes with the code.
    const rows = await tx<{ code: string }[]>`
      select given.code
      from unnest(${asArray(codes)}::text[], ${asArray(codes.map((code) => code + AFTER_ALL_LETTERS))}::text[])
        as given (code, code_end)
      where exists (
        select from ${messagesOf(tx, threadId)} as messages
        where messages.code >= given.code and messages.code < given.code_end offset 0)`
    for (const { code } of rows) {
      const planned = byCode.get(code)
      if (planned !== undefined) isTaken.add(planned)
    }
  }
  return { free: messages.filter((one) => !isTaken.has(one)), taken: messages.filter((one) => isTaken.has(one)) }
}
