import { openStore } from '@heddle/store'
import { describe, expect, it } from 'vitest'
import { newId, OTHER_PROJECT, PROJECT, storeOfTests } from './support.js'

const test = storeOfTests()
const put = (name: string) =>
  test.store.inProject(
    PROJECT,
    (tx) => tx`
      insert into heddle.projects (project_id, name) values (${PROJECT}, ${name})
      on conflict (project_id) do update set name = excluded.name`,
    { together: true },
  )
const nameNow = async () => {
  const [project] = await test.store.inProject(
    PROJECT,
    (tx) => tx<{ name: string }[]>`select name from heddle.projects`,
  )
  return project?.name
}

describe('a transaction whose commit travels with its statements', () => {
  it('is committed when it returns', async () => {
    await put('first')
    expect(await nameNow()).toBe('first')
  })

  it('changes nothing when one of its statements fails, and fails with the error of that statement', async () => {
    await put('kept')
    const failing = test.store.inProject(
      PROJECT,
      (tx) =>
        Promise.all([
          tx`update heddle.projects set name = 'lost'`,
          tx`select 1 / (length(name) - length(name)) from heddle.projects`,
          tx`update heddle.projects set name = 'lost as well'`,
        ]),
      { together: true },
    )
    await expect(failing).rejects.toMatchObject({ code: '22012' })
    expect(await nameNow()).toBe('kept')
  })

  it('refuses a statement that follows the sent commit instead of running it outside of the transaction', async () => {
    await put('kept')
    const failing = test.store.inProject(
      PROJECT,
      async (tx) => {
        await tx`select 1`
        await tx`update heddle.projects set name = 'too late'`
      },
      { together: true },
    )
    await expect(failing).rejects.toThrow('after the end of its transaction')
    expect(await nameNow()).toBe('kept')
  })
})

describe('a transaction', () => {
  it('fails when the error of a statement was ignored, because it was rolled back', async () => {
    await put('kept')
    const failing = test.store.inProject(PROJECT, async (tx) => {
      await tx`update heddle.projects set name = 'lost'`
      await tx`select 1 / (length(name) - length(name)) from heddle.projects`.catch(() => {})
    })
    await expect(failing).rejects.toMatchObject({ code: 'INTERNAL' })
    expect(await nameNow()).toBe('kept')
  })

  it('that only reads sees one snapshot, and releases its connection to the next', async () => {
    await put('before')
    const seen = await test.store.inProject(
      PROJECT,
      async (tx) => {
        const first = await tx<{ name: string }[]>`select name from heddle.projects`
        await put('after')
        const second = await tx<{ name: string }[]>`select name from heddle.projects`
        return [...first, ...second].map(({ name }) => name)
      },
      { snapshot: true },
    )
    expect(seen).toEqual(['before', 'before'])
    expect(await nameNow()).toBe('after')
  })
})

describe('transactions that wait for a connection', () => {
  it('get one round-robin by project, however many of one project wait longer', async () => {
    const store = openStore({ url: test.url, connectionsMax: 1 })
    const order: string[] = []
    let release = () => {}
    const released = new Promise<void>((resolve) => (release = resolve))
    const held = store.inProject(PROJECT, () => released)
    const note = (project: string, name: string) => store.inProject(project, async () => void order.push(name))
    const noted = [1, 2, 3].map((number) => note(PROJECT, `noisy ${number}`))
    noted.push(note(OTHER_PROJECT, 'quiet'))
    release()
    await Promise.all([held, ...noted])
    await store.close()
    expect(order).toEqual(['noisy 1', 'quiet', 'noisy 2', 'noisy 3'])
  })
})

describe('a transaction with priority', () => {
  it('gets the next free connection, before transactions that wait longer', async () => {
    const store = openStore({ url: test.url, connectionsMax: 1 })
    const order: string[] = []
    let release = () => {}
    const released = new Promise<void>((resolve) => (release = resolve))
    const held = store.inProject(PROJECT, () => released)
    const note = (name: string, isFirst: boolean) =>
      store.inProject(PROJECT, async () => void order.push(name), { isFirst })
    const noted = [note('usual', false), note('first', true), note('usual as well', false)]
    release()
    await Promise.all([held, ...noted])
    await store.close()
    expect(order).toEqual(['first', 'usual', 'usual as well'])
  })
})

it('plans each statement once for a connection where plans are kept, and otherwise as the planner chooses', async () => {
  const sql = 'select 1 from heddle.threads where id = '
  const executed = async (arePlansKept: boolean) =>
    await test.store.inProject(
      PROJECT,
      async (tx) => {
        for (let time = 0; time < 3; time++) await tx`select 1 from heddle.threads where id = ${newId()}`
        return await tx<{ own: number; shared: number }[]>`
          select custom_plans::integer as own, generic_plans::integer as shared from pg_prepared_statements
          where starts_with(statement, ${sql})`
      },
      { arePlansKept },
    )
  expect(await executed(true)).toMatchObject([{ own: 0, shared: 3 }])
  expect(await executed(false)).toMatchObject([{ own: 3, shared: 3 }])
})
