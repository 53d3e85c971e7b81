export { lastingInstructions } from './lasting-instructions.js'
