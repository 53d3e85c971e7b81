import { PermanentError } from '@heddle/contracts'
import { type BackupHead, END_OF_ROWS } from './backup.js'
import type { BackupTable } from './backup-tables.js'

/** A part of a backup, in the order of the file. */
export type BackupRecord =
  | { readonly kind: 'head'; readonly head: BackupHead }
  | { readonly kind: 'table'; readonly table: BackupTable }
  /** A row as COPY writes it, with its end of line. */
  | { readonly kind: 'row'; readonly row: Buffer }
  | { readonly kind: 'rows-end' }
  | { readonly kind: 'end'; readonly rows: Readonly<Record<string, number>> }

/** @throws PermanentError `VALIDATION_ERROR` for text that is not a backup, or one that ends before its end */
export async function* readRecords(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<BackupRecord> {
  let [isInRows, isEnded, isBegun] = [false, false, false]
  for await (const text of linesOf(chunks)) {
    if (isEnded) throw notABackup('it goes on after its end')
    if (isInRows) {
      isInRows = !text.equals(END_OF_ROWS)
      yield isInRows ? { kind: 'row', row: text } : { kind: 'rows-end' }
      continue
    }
    const value = parsed(text)
    if (!isBegun) {
      if (value['format'] !== 1) throw notABackup('it does not begin as one')
      isBegun = true
      yield { kind: 'head', head: value as unknown as BackupHead }
    } else if (typeof value['table'] === 'string') {
      isInRows = true
      yield { kind: 'table', table: value as unknown as BackupTable }
    } else {
      isEnded = true
      yield { kind: 'end', rows: value['rows'] as Record<string, number> }
    }
  }
  if (!isEnded) throw notABackup('it ends before its end')
}

export interface BackupSummary {
  readonly head: BackupHead
  readonly rows: number
}

/** Reads a backup to its end and counts its rows. @throws PermanentError as {@link readRecords}, or if rows are missing */
export async function checkBackup(chunks: AsyncIterable<Uint8Array>): Promise<BackupSummary> {
  const counted: Record<string, number> = {}
  let [table, head]: [string, BackupHead | undefined] = ['', undefined]
  for await (const record of readRecords(chunks)) {
    if (record.kind === 'head') head = record.head
    else if (record.kind === 'table') {
      table = record.table.table
      counted[table] = 0
    } else if (record.kind === 'row') counted[table] = (counted[table] ?? 0) + 1
    else if (record.kind === 'end') checkCounts(counted, record.rows)
  }
  if (head === undefined) throw notABackup('it is empty')
  return { head, rows: Object.values(counted).reduce((sum, count) => sum + count, 0) }
}

export function checkCounts(counted: Readonly<Record<string, number>>, rows: Readonly<Record<string, number>>): void {
  const wrong = Object.keys({ ...counted, ...rows }).find((table) => counted[table] !== rows[table])
  if (wrong !== undefined) throw notABackup(`${wrong} has ${counted[wrong]} rows where ${rows[wrong]} were written`)
}

function notABackup(why: string): PermanentError {
  return new PermanentError('VALIDATION_ERROR', `file: this is not a whole backup: ${why}`, {
    field: 'file',
    hint: 'Use a file that heddle backup wrote to its end.',
  })
}

function parsed(text: Buffer): Record<string, unknown> {
  try {
    return JSON.parse(text.toString()) as Record<string, unknown>
  } catch {
    throw notABackup('a line of it is not JSON')
  }
}

/** The lines with their ends; a last one without an end is damage, which the caller finds. */
async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let parts: Buffer[] = []
  for await (const chunk of chunks) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    let from = 0
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, from)) {
      parts.push(bytes.subarray(from, end + 1))
      yield parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)
      parts = []
      from = end + 1
    }
    if (from < bytes.length) parts.push(bytes.subarray(from))
  }
  if (parts.length > 0) yield Buffer.concat(parts)
}
