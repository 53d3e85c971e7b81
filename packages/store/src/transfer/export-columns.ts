import type { Tx } from '../connection/connection.js'
import type { ExportTable } from './export-tables.js'

const camelCase = (column: string) => column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** `one.tool_calls as "toolCalls", ...`: only constants of `export-tables.ts`, so no outside text gets into a statement. */
export function selectColumns(tx: Tx, { columns, sameAs }: ExportTable, alias: string) {
  return tx.unsafe(
    Object.keys(columns)
      .map((column) => {
        const other = sameAs?.[column]
        const value = other === undefined ? `${alias}.${column}` : `coalesce(${alias}.${column}, ${alias}.${other})`
        return `${value} as "${camelCase(column)}"`
      })
      .join(', '),
  )
}

/** `tool_calls, ...`, for the columns of an insert. */
export function insertColumns(tx: Tx, { columns }: ExportTable) {
  return tx.unsafe(Object.keys(columns).join(', '))
}

/** `given."toolCalls", ...`, in the order of {@link insertColumns}. */
export function givenColumns(tx: Tx, { columns, sameAs }: ExportTable) {
  return tx.unsafe(
    Object.keys(columns)
      .map((column) => {
        const other = sameAs?.[column]
        const value = `given."${camelCase(column)}"`
        return other === undefined ? value : `nullif(${value}, given."${camelCase(other)}")`
      })
      .join(', '),
  )
}

/** `"toolCalls" json, ...`: the column definitions by which a list of records is read. */
export function recordColumns(tx: Tx, { columns }: ExportTable) {
  return tx.unsafe(
    Object.entries(columns)
      .map(([column, type]) => `"${camelCase(column)}" ${type}`)
      .join(', '),
  )
}

/** The key of a table as an order that does not depend on the database's locale. */
export function orderColumns(tx: Tx, { key, columns }: ExportTable, alias: string) {
  return tx.unsafe(
    key.map((column) => `${alias}.${column}${columns[column] === 'text' ? ' collate "C"' : ''}`).join(', '),
  )
}
