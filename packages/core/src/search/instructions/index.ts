export { lastingInstructions } from './lasting-instructions.js'
export { type Instruction, type SaidText, standingInstructions } from './standing.js'
export { endedBy, instructionWords, type TakingBack, takingsBack } from './takings-back.js'
