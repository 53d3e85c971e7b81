import * as client from '@heddle/client'
import * as engine from '@heddle/engine'
import * as sessions from '@heddle/sessions'
import { expect, test } from 'vitest'

test('@heddle/client exports all that its optional packages export, and connect', () => {
  expect(client).toMatchObject({ ...engine, ...sessions })
  expect(client.connect).toBeTypeOf('function')
})
