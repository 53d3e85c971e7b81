import type { PgTable } from 'drizzle-orm/pg-core'
import * as schema from './index.js'

type Tables = {
  [Name in keyof typeof schema as (typeof schema)[Name] extends PgTable ? Name : never]: (typeof schema)[Name]
}

/** A function call, because the compiler then expands the column types: the declarations do not depend on Drizzle. */
const rowsOf = <Each extends Record<string, PgTable>>(_tables: Each) =>
  null as unknown as {
    [Name in keyof Each]: { [Column in keyof Each[Name]['$inferSelect']]: Each[Name]['$inferSelect'][Column] }
  }

const rows = rowsOf(schema as Tables)

/** The row type of each table. */
export type Rows = typeof rows

/** Some columns of a table, as queries return them: `Columns<'threads', 'id' | 'name'>`. */
export type Columns<Table extends keyof Rows, Names extends keyof Rows[Table]> = Readonly<Pick<Rows[Table], Names>>
