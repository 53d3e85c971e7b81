/** A connection to Postgres as its users see it: published types name no driver. */
export interface SqlClient {
  query<Row = Record<string, unknown>>(text: string, values?: readonly unknown[]): Promise<{ rows: Row[] }>
}
