import { shortCode } from '@heddle/core'
import { expect, it } from 'vitest'
import { newId, PROJECT, storeOfTests } from '../support.js'

const database = storeOfTests()

it('the database derives the code of an id as the program does', async () => {
  const ids = Array.from({ length: 200 }, newId)
  const rows = await database.store.inProject(
    PROJECT,
    (tx) => tx<{ code: string }[]>`
      select heddle.message_code(id::uuid) as code
      from json_array_elements_text(${JSON.stringify(ids)}::text::json) with ordinality as given (id, place)
      order by place`,
  )
  expect(rows.map(({ code }) => code)).toEqual(ids.map((id) => shortCode(id)))
})
