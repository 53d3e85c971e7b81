import { BlockList, isIP } from 'node:net'

/** IPv4 ranges outside the public network (IANA's registry of special addresses). */
const special4 = new BlockList()
for (const [net, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const)
  special4.addSubnet(net, prefix, 'ipv4')

/** The only IPv6 range allocated to the public network; loopback, link-local and unique local are outside. */
const global6 = new BlockList()
global6.addSubnet('2000::', 3, 'ipv6')

/** Its ranges that are not public, or that embed an arbitrary IPv4 address: Teredo and 6to4. */
const special6 = new BlockList()
for (const [net, prefix] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const)
  special6.addSubnet(net, prefix, 'ipv6')

/** IPv4 addresses mapped to IPv6, such as `::ffff:127.0.0.1`; the rules of IPv4 apply. */
const mapped = new BlockList()
mapped.addSubnet('::ffff:0:0', 96, 'ipv6')

/** Whether an IP address is in the public network; false for any other text. */
export function isPublicAddress(address: string): boolean {
  // A zone such as `%eth0` names an interface of this machine, and only link-local addresses have one.
  const [plain = ''] = address.split('%')
  const family = isIP(plain)
  if (family === 4) return !special4.check(plain, 'ipv4')
  if (family !== 6) return false
  // Node checks mapped addresses against the rules of IPv4.
  if (mapped.check(plain, 'ipv6')) return !special4.check(plain, 'ipv6')
  return global6.check(plain, 'ipv6') && !special6.check(plain, 'ipv6')
}
