import { readFile } from 'node:fs/promises'
import { operations } from '@heddle/contracts'
import { expect, test } from 'vitest'
import { operationsPage, operationsPagePath } from './pages/operations.js'

test('docs/http-operations.md agrees with the table of operations; npm run docs:operations writes it', async () => {
  const page = await readFile(operationsPagePath, 'utf8')
  expect(page).toBe(operationsPage())
  for (const id of Object.keys(operations)) expect(page).toContain(`\`${id}\``)
})

test.each(Object.entries(operations))(
  '%s has the same parameters in its path and in its schema',
  (_, { path, params }) => {
    const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name)
    expect(Object.keys(params.shape).sort()).toEqual(names.sort())
  },
)
