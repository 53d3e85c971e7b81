/**
 * Whether what is written to a stream is coloured. `NO_COLOR` (https://no-color.org) takes colours away wherever they would be;
 * `FORCE_COLOR` brings them where there is no terminal, such as in the log of a build; with `0` it takes them away. Otherwise a
 * terminal that knows them gets them.
 */
export function wantsColor(env: Readonly<Record<string, string | undefined>>, stream: { isTTY?: boolean }): boolean {
  const { NO_COLOR: no, FORCE_COLOR: force } = env
  if (no !== undefined && no !== '') return false
  if (force !== undefined) return force !== '0' && force !== 'false'
  return stream.isTTY === true && env['TERM'] !== 'dumb'
}
