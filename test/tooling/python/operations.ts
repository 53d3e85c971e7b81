import { type Operation, operations } from '@heddle/contracts'

/** The table of operations for the Python client: `npm run python:operations` writes it. */
export const pythonOperationsPath = new URL('../../../clients/python/heddle/operations.py', import.meta.url)

export function pythonOperations(): string {
  const rows = Object.entries<Operation>(operations).map(
    ([id, { method, path, repeat }]) => `    "${id}": ("${method}", "${path}", "${repeat}"),`,
  )
  return [
    '"""Operations of the HTTP interface, written from its table: method, path, and the effect of a repetition."""',
    '',
    'OPERATIONS = {',
    ...rows,
    '}',
    '',
  ].join('\n')
}
