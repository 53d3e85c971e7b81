export { outputStub } from './output-stub.js'
export { type RecordedMessage, recordedMessages, resultIdentity, threadOfEvent } from './recorded-messages.js'
export { RESUME_CHARACTERS_MAX, resumeText } from './resume-text.js'
export { isReadAgain, replaceableOutput, type ToolOutput } from './tool-output.js'
