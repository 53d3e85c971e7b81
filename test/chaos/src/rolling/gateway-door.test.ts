import { expect, test } from 'vitest'
import { countRequests } from './gateway-door.js'

test('requests without an answer, and refused ones, are counted by kind', () => {
  const log = `Proxy gateway started.
request 1795835658 200 -- POST /v1/threads/thread-1/messages gateway/gateway1
request 1795835658 202 -- GET /v1/contexts/0190 gateway/gateway2
request 1795835658 503 -- POST /v1/threads/thread-2/messages gateway/gateway1
request 1795835658 503 -- POST /v1/threads/thread-3/messages gateway/gateway1
request 1795835658 503 SC POST /v1/threads/thread-3/contexts gateway/<NOSRV>
request 1795835658 -1 CH POST /v1/threads/thread-3/contexts gateway/gateway2
[WARNING] Server gateway/gateway1 is DOWN
`
  const { requests, failures } = countRequests(log)
  expect(requests).toBe(6)
  expect(Object.fromEntries(failures)).toEqual({
    '503 -- POST /v1/threads/…/messages at gateway1': 2,
    '503 SC POST /v1/threads/…/contexts at <NOSRV>': 1,
    '-1 CH POST /v1/threads/…/contexts at gateway2': 1,
  })
})
