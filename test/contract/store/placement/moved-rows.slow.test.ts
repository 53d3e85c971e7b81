import { findDatabase } from '@heddle/store'
import { beforeEach, expect, test } from 'vitest'
import { OTHER_PROJECT, PROJECT } from '../support.js'
import { Killed, killedIn, move, projectOfTests, write } from './two-databases.js'

const tests = projectOfTests()
beforeEach(() => write(tests.store, ['of another project'], OTHER_PROJECT))

async function grant(from: string, to: string): Promise<void> {
  await tests.store.inProject(from, async (tx) => {
    await tx`insert into heddle.grants (id, grantee_project_id, scope) values (gen_random_uuid(), ${to}, 'recall')`
  })
}

async function grantsIn(name: 'default' | 'b'): Promise<[string, string][]> {
  const rows = await tests.databases.sql[name]<{ from: string; to: string }[]>`
    select project_id as from, grantee_project_id as to from heddle.grants order by project_id`
  return rows.map(({ from, to }) => [from, to])
}

test('a project that granted to another one moves with its grant', async () => {
  await grant(PROJECT, OTHER_PROJECT)
  await move(tests.databases)
  expect(await grantsIn('b')).toEqual([[PROJECT, OTHER_PROJECT]])
})

test('a project that moves away keeps the grants that others gave it', async () => {
  await grant(OTHER_PROJECT, PROJECT)
  await move(tests.databases)
  expect(await grantsIn('default')).toEqual([[OTHER_PROJECT, PROJECT]])
})

test('a project grants to one in another database', async () => {
  await move(tests.databases)
  await grant(PROJECT, OTHER_PROJECT)
  expect(await grantsIn('b')).toEqual([[PROJECT, OTHER_PROJECT]])
})

test('a project that is removed loses the grants that others gave it', async () => {
  await grant(OTHER_PROJECT, PROJECT)
  await tests.store.inProject(PROJECT, (tx) => tx`delete from heddle.projects where project_id = ${PROJECT}`)
  expect(await grantsIn('default')).toEqual([])
})

test('rows that the new database refuses end the move with an error', async () => {
  const { default: from, b } = tests.databases.sql
  const key = (projectId: string) => ({
    id: '00000000-0000-4000-8000-000000000001',
    project_id: projectId,
    name: 'key',
    role: 'read',
    hash: Buffer.alloc(32, projectId === PROJECT ? 1 : 2),
  })
  await b`insert into heddle.projects (project_id, name) values (${OTHER_PROJECT}, 'other')`
  await b`insert into heddle.api_keys ${b(key(OTHER_PROJECT))}`
  await from`insert into heddle.api_keys ${from(key(PROJECT))}`
  await expect(move(tests.databases)).rejects.toMatchObject({ code: 'CONFLICT' })
  await tests.abandon()
})

test('a project is not looked for where its arrival is pending', async () => {
  await move(tests.databases)
  await expect(move(tests.databases, { to: 'default', ...killedIn('verifying') })).rejects.toThrow(Killed)
  await tests.databases.sql.default`update heddle_placement.placement set arriving = 2 where project_id = ${PROJECT}`
  expect(await findDatabase(tests.databases.addresses, PROJECT)).toBe('b')
})

test('a row that is numbered again while it is copied has its new number in the copy', async () => {
  const { default: from, b } = tests.databases.sql
  const numbers = (sql: typeof from) => sql`
    select thread_id, number from heddle.posting_threads where project_id = ${PROJECT} order by thread_id`
  let renumbered: unknown[] = []
  await move(tests.databases, {
    async onState({ state }) {
      if (state !== 'catching-up') return
      const rows = await from`delete from heddle.posting_threads where project_id = ${PROJECT}
        returning thread_id, project_id, agent_id`
      await from`insert into heddle.posting_threads ${from(rows)}`
      renumbered = [...(await numbers(from))]
    },
  })
  expect(renumbered).toHaveLength(1)
  expect([...(await numbers(b))]).toEqual(renumbered)
})
