import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { expect, test, vi } from 'vitest'
import { disconnectSlowReaderFromHead, TAKE_MS_MAX } from './slow-reader.js'

test('a client that reads nothing of a streamed answer is disconnected, and one that waits for the headers is not', () => {
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  const setTimeout = vi.spyOn(response, 'setTimeout')
  disconnectSlowReaderFromHead(response)
  expect(setTimeout).not.toHaveBeenCalled()
  response.writeHead(200, { 'content-type': 'application/json' })
  expect(setTimeout).toHaveBeenCalledWith(TAKE_MS_MAX, expect.any(Function))
  expect(response.headersSent).toBe(true)
  response.emit('timeout')
  expect(response.destroyed).toBe(true)
})
