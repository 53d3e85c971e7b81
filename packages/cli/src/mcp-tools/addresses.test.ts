import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isPublicAddress } from './addresses.js'

test.for([
  ...[
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.9.9',
  ],
  ...['192.168.1.1', '198.18.0.1', '224.0.0.1', '255.255.255.255', '::', '::1', 'fc00::1', 'fd12::1', 'fe80::1%eth0'],
  ...['fec0::1', 'ff02::1', '::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.0.0.1', '::127.0.0.1', '64:ff9b::7f00:1'],
  ...['2001:db8::1', '2001::1', '2002:7f00:1::', '', 'localhost', '1.2.3', '127.1'],
])('%s is not of the public network', (address) => {
  expect(isPublicAddress(address)).toBe(false)
})

test.for(['1.1.1.1', '100.128.0.1', '172.32.0.1', '192.169.0.1', '2606:4700::1111', '2a00::1', '::ffff:1.1.1.1'])(
  '%s is of the public network',
  (address) => {
    expect(isPublicAddress(address)).toBe(true)
  },
)

test('an IPv4 address mapped to IPv6 follows the rules of IPv4', () => {
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      expect(isPublicAddress(`::ffff:${address}`)).toBe(isPublicAddress(address))
    }),
  )
})
