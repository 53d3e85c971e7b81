import { threadIdOf } from '@heddle/core'
import {
  abandonMove,
  appendPostings,
  listHistory,
  type Move,
  type MoveOptions,
  type MoveState,
  moveProject,
  openStore,
  type Store,
} from '@heddle/store'
import { migratedDatabase } from '@heddle/test-support'
import postgres from 'postgres'
import { afterEach, beforeEach, expect } from 'vitest'
import { append, appendOne, PROJECT, prepared, RECEIVED_AT_MS } from '../support.js'

/** Two migrated databases, `default` and `b`, and stores on both of them. */
export interface TwoDatabases {
  /** The addresses of the owners, by name. */
  readonly addresses: { readonly default: string; readonly b: string }
  /** As superuser. */
  readonly sql: { readonly default: postgres.Sql; readonly b: postgres.Sql }
  /** A store that knows both. It is closed with the databases. */
  open(): Store
  /** A store of a process without HEDDLE_DATABASES. */
  openDefault(): Store
  drop(): Promise<void>
}

export async function twoDatabases(): Promise<TwoDatabases> {
  const [first, second] = await Promise.all([migratedDatabase(), migratedDatabase()])
  const stores: Store[] = []
  const keep = (store: Store) => {
    stores.push(store)
    return store
  }
  const connect = (url: string) => postgres(url, { max: 2, onnotice: () => {} })
  const sql = { default: connect(first.url), b: connect(second.url) }
  return {
    addresses: { default: first.url, b: second.url },
    sql,
    open: () => keep(openStore({ url: first.url, databases: { b: { url: second.url } } })),
    openDefault: () => keep(openStore({ url: first.url })),
    async drop() {
      await Promise.all(stores.map((store) => store.close()))
      await Promise.all([sql.default.end(), sql.b.end()])
      await Promise.all([first.drop(), second.drop()])
    },
  }
}

/** A project with the messages `one two` and `three` in the database `default`, for each test of a file. */
export function projectOfTests() {
  let databases: TwoDatabases
  let store: Store
  beforeEach(async () => {
    databases = await twoDatabases()
    store = databases.open()
    await write(store, ['one two', 'three'])
  })
  afterEach(() => databases.drop())
  return {
    get databases() {
      return databases
    },
    /** A process that knew the project before any move. */
    get store() {
      return store
    },
    abandon: () => abandonMove({ projectId: PROJECT, project: 'store tests', databases: databases.addresses }),
    /** The project is written and read by old and new processes, and nothing of it is left in its first database. */
    async expectMoved(): Promise<void> {
      await write(store, ['four'])
      expect(await contentsIn(store)).toEqual(['one two', 'three', 'four'])
      expect(await contentsIn(databases.open())).toEqual(['one two', 'three', 'four'])
      expect(await rowsOf(databases.sql.default)).toBe(0)
      expect(await leftBehind(databases.sql.default)).toEqual([])
    },
  }
}

export function move(databases: TwoDatabases, options: Partial<MoveOptions> = {}): Promise<Move> {
  const common = { projectId: PROJECT, project: 'store tests', to: 'b', databases: databases.addresses }
  return moveProject({ ...common, ...options })
}

/** The end of a process as it enters a state. */
export class Killed extends Error {}

export function killedIn(state: MoveState) {
  return {
    onState: (move: Move) => {
      if (move.state === state) throw new Killed(`killed in ${state}`)
    },
  }
}

let timeMs = RECEIVED_AT_MS
/** A time of its own for each append: messages of one time are ordered by their random ids. */
export function nextTimeMs(): number {
  return ++timeMs
}

/** Appends messages with these contents to the thread `cloth`, each with its words. */
export async function write(store: Store, contents: readonly string[], projectId = PROJECT): Promise<void> {
  const messages = contents.map((content, ordinal) => prepared({ content }, { ordinal, orderedAtMs: nextTimeMs() }))
  await appendOne(store, append(messages), projectId)
  const threadId = threadIdOf(projectId, 'cloth')
  await store.inProject(projectId, async (tx) => {
    const [cursor] = await tx<{ headSeq: number }[]>`
      select head_seq from heddle.stage_cursors where thread_id = ${threadId}`
    const [thread] = await tx<{ agentId: string }[]>`select agent_id from heddle.threads where id = ${threadId}`
    if (cursor === undefined || thread === undefined) throw new Error('no thread')
    const first = cursor.headSeq - contents.length + 1
    const indexed = contents.map((content, index) => ({
      seq: first + index,
      terms: new Map(content.split(' ').map((term) => [term, [0, 1]])),
      length: content.split(' ').length,
      isReply: false,
      dated: new Set<number>(),
    }))
    await appendPostings(tx, { threadId, agentId: thread.agentId, toSeq: cursor.headSeq, messages: indexed })
  })
}

/** The contents of the thread `cloth`, oldest first. */
export async function contentsIn(store: Store, projectId = PROJECT): Promise<string[]> {
  const threadId = threadIdOf(projectId, 'cloth')
  const page = await store.inProject(projectId, (tx) => listHistory(tx, { threadId, limit: 1_000, order: 'asc' }))
  return page?.messages.map(({ content }) => content) ?? []
}

/** Rows of a project in all tables of a database. */
export async function rowsOf(sql: postgres.Sql, projectId = PROJECT): Promise<number> {
  const tables = await sql<{ name: string }[]>`
    select table_name as name from information_schema.columns
    where table_schema = 'heddle' and column_name = 'project_id'`
  const parts = tables.map(({ name }) => `select count(*) from heddle."${name}" where project_id = '${projectId}'`)
  const [row] = await sql.unsafe<{ rows: string }[]>(
    `select sum(count) as rows from (${parts.join(' union all ')}) as counted`,
  )
  return Number(row?.rows ?? 0)
}

/** Triggers, functions and notes of a move, which has to remove them at its end. */
export async function leftBehind(sql: postgres.Sql): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select 'trigger on ' || tgrelid::regclass::text as name from pg_trigger where tgname = 'heddle_move'
    union all
    select proname::text from pg_proc
    where pronamespace = 'heddle_placement'::regnamespace and starts_with(proname, 'note_')
    union all
    select 'note of ' || table_name from heddle_placement.changes`
  return rows.map(({ name }) => name)
}
