/** A connection to Postgres without the driver's types, which must not appear in published types. */
export interface SqlClient {
  query<Row = Record<string, unknown>>(text: string, values?: readonly unknown[]): Promise<{ rows: Row[] }>
}
