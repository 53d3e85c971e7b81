/**
 * Normalizes a path, so that a view and an edit of one file match: `./a//b/../c.ts` becomes `a/c.ts`, and a relative
 * path is resolved against the working directory if it is known.
 */
export function normalizePath(path: string, workingDirectory: string | null = null): string {
  const windows = /^[A-Za-z]:[\\/]/.test(path)
  const slashed = (windows ? path.replaceAll('\\', '/') : path).replace(/^file:\/\//, '')
  const relative = !slashed.startsWith('/') && !windows && !slashed.startsWith('~')
  const whole = relative && workingDirectory !== null ? `${workingDirectory}/${slashed}` : slashed
  const kept: string[] = []
  for (const part of whole.split('/')) {
    if (part === '' || part === '.') continue
    if (part === '..' && kept.length > 0 && kept.at(-1) !== '..') kept.pop()
    else kept.push(part)
  }
  return `${whole.startsWith('/') ? '/' : ''}${kept.join('/')}`
}
