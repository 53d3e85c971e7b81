export { validateAnthropic } from './anthropic.js'
export { validateOpenAiChat } from './openai-chat.js'
