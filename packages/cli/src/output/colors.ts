/**
 * Whether output to a stream is coloured. `NO_COLOR` (https://no-color.org) disables colours everywhere; `FORCE_COLOR` enables
 * them without a terminal, such as in a build log, and disables them if it is `0`. Otherwise terminals that support colours get
 * them.
 */
export function wantsColor(env: Readonly<Record<string, string | undefined>>, stream: { isTTY?: boolean }): boolean {
  const { NO_COLOR: no, FORCE_COLOR: force } = env
  if (no !== undefined && no !== '') return false
  if (force !== undefined) return force !== '0' && force !== 'false'
  return stream.isTTY === true && env['TERM'] !== 'dumb'
}
