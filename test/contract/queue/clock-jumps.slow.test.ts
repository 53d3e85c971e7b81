import { existsSync } from 'node:fs'
import { done } from '@heddle/queue'
import { backends, spawnNode } from '@heddle/test-support'
import { describe, expect, it, onTestFinished } from 'vitest'
import { freshPlace, queuesAt, someThread, startWorker } from './support.js'

/** The paths of the library of the package `faketime` on Debian, Ubuntu and others. */
const LIBRARY = [
  '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1',
  '/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1',
  '/usr/lib/faketime/libfaketime.so.1',
].find(existsSync)
const YEAR = new Date().getUTCFullYear()

if (LIBRARY === undefined) process.stdout.write('Left out: clocks that jump, because libfaketime is not installed\n')

describe.each(backends())('on $title a worker whose clock is a year off', ({ skip, open }) => {
  describe.skipIf(skip || LIBRARY === undefined)('does not delay work by a year:', () => {
    it.each([
      ['a job that it failed, ahead', '+365d', 'fail', /^retried$/],
      ['a job that it held when it was killed, ahead', '+365d', 'hang', /^taken$/],
      ['a job that it failed, behind', '-365d', 'fail', /^retried$/],
      ['a job that it held when it was killed, behind', '-365d', 'hang', /^taken$/],
    ])(
      '%s',
      async (_title, offset, act, until) => {
        const place = await freshPlace(open)
        const queues = await queuesAt(place)
        await queues.wake('prune', someThread())
        const off = spawnNode(new URL('./ahead-worker-process.ts', import.meta.url), {
          parameters: [place.backend.kind, place.backend.url, place.prefix, act],
          env: { LD_PRELOAD: LIBRARY ?? '', FAKETIME: offset, DONT_FAKE_MONOTONIC: '1' },
        })
        onTestFinished(() => off.kill('SIGKILL'))
        const [, year] = await off.line(/^ready in (\d+)$/)
        expect(Number(year)).not.toBe(YEAR)
        await off.line(until)
        off.kill('SIGKILL')
        await off.exited
        const worker = await startWorker({ stage: 'prune', queues, handler: async () => done() })
        expect((await worker.whenSettled(1)).map(({ result }) => result)).toEqual(['done'])
      },
      60_000,
    )
  })
})
