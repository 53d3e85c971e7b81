import { readFile } from 'node:fs/promises'
import { satisfies } from 'semver'
import { expect, test } from 'vitest'

/** The oldest Node that Heddle runs on, as each of its manifests says. */
const NODE_OLDEST = '20.19.0'

interface LockedPackage {
  readonly version?: string
  readonly engines?: { readonly node?: string }
}

test(`every package of the lock file accepts Node ${NODE_OLDEST}, so that npm warns about no package`, async () => {
  const lock = JSON.parse(await readFile(new URL('../../package-lock.json', import.meta.url), 'utf8')) as {
    readonly packages: Readonly<Record<string, LockedPackage>>
  }
  const locked = Object.entries(lock.packages)
  const refusing = locked
    .filter(([, { engines }]) => engines?.node !== undefined && !satisfies(NODE_OLDEST, engines.node))
    .map(([path, { version, engines }]) => `${path}@${version} wants Node ${engines?.node}`)
  expect(refusing).toEqual([])
  expect(lock.packages['']?.engines?.node).toBe('>=20.19')
  expect(locked.length).toBeGreaterThan(100)
})
