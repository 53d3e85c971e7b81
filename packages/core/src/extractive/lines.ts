/** `edited 3 times`; empty for zero. */
export function times(verb: string, count: number): string {
  return count === 0 ? '' : count === 1 ? verb : count === 2 ? `${verb} twice` : `${verb} ${count} times`
}
