import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { pythonOperations, pythonOperationsPath } from './python/operations.js'

test('the operations of the Python client agree with the table; npm run python:operations writes them', async () => {
  expect(await readFile(pythonOperationsPath, 'utf8')).toBe(pythonOperations())
})
