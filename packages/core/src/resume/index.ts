export { RESUME_CHARACTERS_MAX, resumeText, resumeTextInSteps } from './resume-text.js'
export { warmUpResumeText } from './warm-up.js'
