/** The output of the tool in a turn. Programs that run elsewhere are given a copy of this file. */
export const lineOf = (turn: number) => `Line of turn ${turn}. `.repeat(40)
