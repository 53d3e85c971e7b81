import { createHash, randomBytes } from 'node:crypto'
import { partToStore } from '@heddle/core'
import { appendMessages, type PreparedMessage, type Tx } from '@heddle/store'
import { waitFor } from '@heddle/test-support'
import { expect, it } from 'vitest'
import { append, PROJECT, prepared, storeOfTests } from '../support.js'

const database = storeOfTests()

/** A message with pictures of the given bytes. */
function withParts(contents: readonly Buffer[]): PreparedMessage {
  const parts = contents.map((bytes) =>
    partToStore({ type: 'image', mediaType: 'image/png', data: bytes.toString('base64') }),
  )
  return { ...prepared(), parts }
}

const store = (tx: Tx, thread: string, contents: readonly Buffer[]) =>
  appendMessages(tx, {
    projectId: PROJECT,

    appends: [append([withParts(contents)], { thread })],
  })

it('bytes are locked in the order of their hashes, stored and new ones alike', async () => {
  const contents = Array.from({ length: 2 }, () => randomBytes(32))
  const [first, second] = contents.toSorted((left, right) =>
    Buffer.compare(createHash('sha256').update(left).digest(), createHash('sha256').update(right).digest()),
  )
  if (first === undefined || second === undefined) throw new Error('no contents')
  const inProject = database.store.inProject.bind(database.store)
  await inProject(PROJECT, (tx) => store(tx, 'there already', [second]))
  let both: Promise<unknown> = Promise.resolve()
  await inProject(PROJECT, async (tx) => {
    await store(tx, 'one', [first])
    // It waits for the first, and must not lock the second meanwhile.
    both = inProject(PROJECT, (other) => store(other, 'both', [second, first]))
    both.catch(() => {})
    await waitFor(async () => (await tx`select from pg_locks where not granted`).length > 0, { what: 'the wait' })
    await store(tx, 'another', [second])
  })
  await both
  const counted = await inProject(
    PROJECT,
    (tx) => tx<{ times: number }[]>`select reference_count as times from heddle.part_contents order by hash`,
  )
  expect(counted.map(({ times }) => times)).toEqual([2, 3])
})
