export { RESUME_CHARACTERS_MAX, resumeText } from './resume-text.js'
export { warmUpResumeText } from './warm-up.js'
